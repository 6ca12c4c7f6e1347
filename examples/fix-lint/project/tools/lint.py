"""A small linter: python3 tools/lint.py DIRECTORY. Exits with 1 when it finds something."""

import ast
import sys
from pathlib import Path


def findings(tree):
    """(line, message) for each thing that is hardly ever meant."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                for alias in imported:
                    name = (alias.asname or alias.name).split(".")[0]
                    if name not in names:
                        yield node.lineno, f"unused import: {name}"
            case ast.ExceptHandler(type=None):
                yield node.lineno, "bare except also hides mistakes of the program: name the exceptions"
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
                yield node.lineno, "comparison with None: use `is`"
            case ast.FunctionDef(args=arguments):
                for default in arguments.defaults + arguments.kw_defaults:
                    if isinstance(default, ast.List | ast.Dict | ast.Set):
                        yield default.lineno, "mutable default: it is shared by all calls"
            case ast.JoinedStr(values=parts) if not any(isinstance(p, ast.FormattedValue) for p in parts):
                yield node.lineno, "f-string without a value"


def main():
    count = 0
    for path in sorted(Path(sys.argv[1]).rglob("*.py")):
        lines = path.read_text(encoding="utf-8").split("\n")
        for line, message in sorted(findings(ast.parse("\n".join(lines)))):
            if "# noqa" not in lines[line - 1]:
                print(f"{path}:{line}: {message}")
                count += 1
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
