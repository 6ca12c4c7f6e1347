"""Build dist/letters.pyz: the same bytes wherever it is built."""

import os
import zipfile

MAIN = "from letters.__main__ import main\nmain()\n"
LEFT_OUT = {"__pycache__", "tests"}


def contents():
    """Name -> bytes."""
    found = {"__main__.py": MAIN.encode()}
    for directory, below, names in os.walk("letters"):
        below[:] = [name for name in below if name not in LEFT_OUT]
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[path.replace(os.sep, "/")] = file.read()
    return found


def build():
    os.makedirs("dist", exist_ok=True)
    with zipfile.ZipFile("dist/letters.pyz", "w") as archive:
        for name, content in sorted(contents().items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)


if __name__ == "__main__":
    build()
