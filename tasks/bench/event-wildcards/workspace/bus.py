"""An event bus."""


class Bus:
    def __init__(self):
        self._calls = {}

    def on(self, name, call):
        self._calls.setdefault(name, []).append(call)

    def emit(self, name, **data):
        return [call(**data) for call in self._calls.get(name, [])]
