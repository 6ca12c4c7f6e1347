"""An event bus with patterns."""

import fnmatch


class EmitError(Exception):
    def __init__(self, errors, results):
        super().__init__(str(errors))
        self.errors, self.results = errors, results


class Handle:
    def __init__(self, bus, entry):
        self.bus, self.entry = bus, entry

    def cancel(self):
        if self.entry in self.bus.entries:
            self.bus.entries.remove(self.entry)


class Bus:
    def __init__(self):
        self.entries = []

    def on(self, pattern, call, priority=0, once=False):
        if not all(pattern.split(".")) or "**" in pattern.split(".")[:-1]:
            raise ValueError(pattern)
        entry = [pattern, call, priority, once, object()]
        self.entries.append(entry)
        return Handle(self, entry)

    def once(self, pattern, call, priority=0):
        return self.on(pattern, call, priority, True)

    def emit(self, name, **data):
        if not all(name.split(".")) or "*" in name:
            raise ValueError(name)
        results, errors = [], []
        for entry in sorted(list(self.entries), key=lambda e: -e[2]):
            if entry not in self.entries or not fnmatch.fnmatchcase(name, entry[0]):
                continue
            if not entry[0].endswith("**") and entry[0].count(".") != name.count("."):
                continue
            try:
                results.append(entry[1](**data))
            except Exception as error:
                errors.append(error)
            if entry[3] and entry in self.entries:
                self.entries.remove(entry)
        if errors:
            raise EmitError(errors, results)
        return results
