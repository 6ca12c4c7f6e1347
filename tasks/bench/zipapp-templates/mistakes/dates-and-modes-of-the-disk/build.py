import os
import zipfile

MAIN = "from letters.__main__ import main\nmain()\n"


def build():
    os.makedirs("dist", exist_ok=True)
    with zipfile.ZipFile("dist/letters.pyz", "w") as archive:
        archive.writestr("__main__.py", MAIN)
        for directory, _, names in os.walk("letters"):
            for name in sorted(names):
                if "tests" not in directory and "__pycache__" not in directory:
                    archive.write(os.path.join(directory, name))


if __name__ == "__main__":
    build()
