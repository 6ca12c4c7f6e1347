"""Installs the requirements from vendor/ into .deps/."""

import shutil

from releases import ROOT, pinned

shutil.rmtree(ROOT / ".deps", ignore_errors=True)
for name, version in pinned():
    shutil.copytree(ROOT / "vendor" / f"{name}-{version}", ROOT / ".deps", dirs_exist_ok=True)
    print("installed", name, version)
