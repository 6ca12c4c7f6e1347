"""Every call of fetch names a timeout: says which do not, and fails."""

import ast
import sys
from pathlib import Path


def main():
    missing = [
        f"{path}:{node.lineno}"
        for path in sorted(Path("services").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fetch"
        if "timeout" not in {keyword.arg for keyword in node.keywords}
    ]
    print("\n".join([*missing, f"{len(missing)} calls of fetch without a timeout"]))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
