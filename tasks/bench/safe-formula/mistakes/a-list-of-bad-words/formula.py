"""Formulas that users type."""


class FormulaError(ValueError):
    """A formula that cannot be evaluated."""


BAD = ("__", "import", "lambda", "[", "{", "'", '"', "open", ":=", ";", "\n", ".r", ".u")


def evaluate(text, variables):
    """The value of a formula. Raises: FormulaError."""
    if len(text) > 1000 or any(word in text for word in BAD):
        raise FormulaError("not allowed")
    names = {"min": min, "max": max, "abs": abs, "round": round, "len": len}
    try:
        return eval(text, {"__builtins__": names}, dict(variables))
    except Exception as error:
        raise FormulaError(str(error)) from None
