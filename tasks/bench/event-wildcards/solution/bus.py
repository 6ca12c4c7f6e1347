"""An event bus with patterns."""


class EmitError(Exception):
    """Some calls failed; all were made."""

    def __init__(self, errors, results):
        super().__init__(f"{len(errors)} calls failed: {errors!r}")
        self.errors, self.results = errors, results


class Subscription:
    """A call that is on."""

    def __init__(self, bus, parts, call, priority, is_once):
        self._bus, self.parts, self.call, self.priority, self.is_once = bus, parts, call, priority, is_once
        self.is_on = True

    def cancel(self):
        if self.is_on:
            self.is_on = False
            self._bus._subscriptions.remove(self)

    def fits(self, parts):
        own = self.parts
        if own[-1] == "**":
            own = (*own[:-1], *["*"] * (len(parts) - len(own) + 1)) if len(parts) >= len(own) else own
        return len(own) == len(parts) and all(mine in ("*", theirs) for mine, theirs in zip(own, parts))


def _parts(name):
    parts = tuple(name.split("."))
    if not all(parts):
        raise ValueError(f"empty parts: {name!r}")
    return parts


class Bus:
    def __init__(self):
        self._subscriptions = []

    def on(self, pattern, call, priority=0):
        return self._add(pattern, call, priority, is_once=False)

    def once(self, pattern, call, priority=0):
        return self._add(pattern, call, priority, is_once=True)

    def _add(self, pattern, call, priority, is_once):
        parts = _parts(pattern)
        if "**" in parts[:-1]:
            raise ValueError(f"** stands last: {pattern!r}")
        made = Subscription(self, parts, call, priority, is_once)
        self._subscriptions.append(made)
        return made

    def emit(self, name, **data):
        parts = _parts(name)
        if any("*" in part for part in parts):
            raise ValueError(f"a pattern cannot be emitted: {name!r}")
        fitting = [one for one in self._subscriptions if one.fits(parts)]
        results, errors = [], []
        for one in sorted(fitting, key=lambda one: -one.priority):
            if not one.is_on:
                continue
            if one.is_once:
                one.cancel()
            try:
                results.append(one.call(**data))
            except Exception as error:
                errors.append(error)
        if errors:
            raise EmitError(errors, results)
        return results
