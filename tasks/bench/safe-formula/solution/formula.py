"""Formulas that users type."""

import ast
import operator

MAX_CHARS, MAX_DEPTH, MAX_EXPONENT, MAX_BITS = 1_000, 50, 1_000, 10_000
FUNCTIONS = {"min": min, "max": max, "abs": abs, "round": round, "len": len}
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
}


class FormulaError(ValueError):
    """A formula that cannot be evaluated."""


def evaluate(text, variables):
    """The value of a formula; `variables`: name -> number or text. Raises: FormulaError."""
    if len(text) > MAX_CHARS:
        raise FormulaError(f"longer than {MAX_CHARS} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"not a formula: {error}") from None
    _check(tree, variables, 1)
    try:
        return _value(tree, variables)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise error if isinstance(error, FormulaError) else FormulaError(str(error)) from None


def _check(node, variables, depth):
    """See that there is nothing in it but what a formula may have."""
    if depth > MAX_DEPTH:
        raise FormulaError("nested too deeply")
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return
        case ast.Name(id=name) if name in variables:
            return
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS:
            pass
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=sign, operand=inner) if type(sign) in UNARY:
            parts = [inner]
        case ast.Compare(left=left, ops=signs, comparators=others) if all(type(sign) in COMPARISONS for sign in signs):
            parts = [left, *others]
        case ast.BoolOp(values=parts):
            pass
        case ast.IfExp(test=test, body=body, orelse=other):
            parts = [test, body, other]
        case _:
            raise FormulaError(f"not allowed: {type(node).__name__}")
    for part in parts:
        _check(part, variables, depth + 1)


def _value(node, variables):
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return variables[name]
        case ast.Call(func=ast.Name(id=name), args=parts):
            return FUNCTIONS[name](*(_value(part, variables) for part in parts))
        case ast.BinOp(left=left, op=sign, right=right):
            return _binary(sign, _value(left, variables), _value(right, variables))
        case ast.UnaryOp(op=sign, operand=inner):
            return UNARY[type(sign)](_value(inner, variables))
        case ast.Compare(left=left, ops=signs, comparators=others):
            before = _value(left, variables)
            for sign, other in zip(signs, others):
                after = _value(other, variables)
                result = COMPARISONS[type(sign)](before, after)
                if not result:
                    return result
                before = after
            return result
        case ast.BoolOp(op=sign, values=parts):
            for part in parts:
                value = _value(part, variables)
                if bool(value) == isinstance(sign, ast.Or):
                    return value
            return value
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, variables) else other, variables)


def _binary(sign, left, right):
    if isinstance(sign, ast.Mult) and (isinstance(left, str) or isinstance(right, str)):
        raise FormulaError("a text cannot be multiplied")
    if isinstance(sign, ast.Pow):
        if right > MAX_EXPONENT:
            raise FormulaError("the exponent is too large")
        if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > 2 * MAX_BITS:
            raise FormulaError("the number is too large")
    for number in (left, right):
        _check_size(number)
    return _check_size(BINARY[type(sign)](left, right))


def _check_size(number):
    if isinstance(number, int) and number.bit_length() > MAX_BITS:
        raise FormulaError("the number is too large")
    return number
