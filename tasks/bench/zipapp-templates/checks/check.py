import hashlib
import os
import shutil
import tempfile
import zipfile

from lab import PYTHON, run, same, true, write

GREETING = "Dear Ann,\nall the best — yours, the letters.\n"


def built(top="."):
    done = run(*PYTHON, "build.py", cwd=top)
    same(done.code, 0, f"build.py: {done.err[-300:]}")
    with open(os.path.join(top, "dist/letters.pyz"), "rb") as file:
        return file.read()


def check_it_greets_from_anywhere():
    built()
    place = tempfile.mkdtemp()
    shutil.move("dist/letters.pyz", os.path.join(place, "x.pyz"))
    done = run(*PYTHON, "x.pyz", "Ann", cwd=place)
    same((done.code, done.out), (0, GREETING), f"the archive: {done.err[-300:]}")


def check_it_greets_in_the_tree():
    done = run(*PYTHON, "-c", "import runpy, sys; sys.path.insert(0, '.'); sys.argv = ['x', 'Ann']; "
               "runpy.run_module('letters', run_name='__main__')")
    same((done.code, done.out), (0, GREETING), f"python3 -m letters: {done.err[-300:]}")


def check_what_is_in_it():
    os.makedirs("letters/__pycache__", exist_ok=True)
    write("letters/__pycache__/render.cpython-311.pyc", "x")
    write("letters/templates/added later.txt", "Later, ${name}.\n")
    built()
    with zipfile.ZipFile("dist/letters.pyz") as archive:
        names = archive.namelist()
        dates = {one.date_time[:3] for one in archive.infolist()}
    inside = [name for name in names if not name.endswith("/")]
    same(sorted(inside), sorted([
        "__main__.py", "letters/__init__.py", "letters/__main__.py", "letters/render.py",
        "letters/templates/added later.txt", "letters/templates/farewell.txt", "letters/templates/greeting.txt",
    ]), "files in the archive")
    same(names, sorted(names), "their order")
    same(dates, {(1980, 1, 1)}, "their dates")
    os.remove("letters/templates/added later.txt")
    shutil.rmtree("letters/__pycache__")


def check_it_is_the_same_bytes_everywhere():
    first = built()
    place = tempfile.mkdtemp()
    for name in ("build.py", "letters"):
        (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, os.path.join(place, name))
    for directory, _, names in os.walk(place):
        for name in names:
            os.utime(os.path.join(directory, name), (1700000000, 1700000000))
            os.chmod(os.path.join(directory, name), 0o755)
    second = built(place)
    third = built(place)
    same([hashlib.sha256(one).hexdigest() for one in (second, third)], [hashlib.sha256(first).hexdigest()] * 2,
         "digests")
