"""Formulas that users type."""


class FormulaError(ValueError):
    """A formula that cannot be evaluated."""


def evaluate(text, variables):
    """The value of a formula; `variables`: name -> number or text. Raises: FormulaError."""
    return eval(text, {"__builtins__": {"min": min, "max": max, "abs": abs, "round": round, "len": len}}, dict(variables))
