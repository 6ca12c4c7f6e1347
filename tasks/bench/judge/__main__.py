"""Judges the directory that it is started in: `python3 -I -S -B judge`; 0 when every check holds.

The checks are read into memory and taken off the disk before any judged code runs, so that none can read
them. Each function of checks/check.py whose name begins with `check_` is one check; the first that does not hold
decides, and those after it are not tried.
"""

import os
import shutil
import sys
import traceback

import lab


def main():
    for directory, _, names in os.walk("checks"):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, encoding="utf-8", newline="") as file:
                lab.DATA[os.path.relpath(path, "checks")] = file.read()
    shutil.rmtree("checks")
    shutil.rmtree("judge")
    space = {"__name__": "check"}
    exec(compile(lab.DATA["check.py"], "check.py", "exec"), space)
    checks = {name[6:]: made for name, made in space.items() if name.startswith("check_")}
    held = 0
    for name, check in checks.items():
        try:
            check()
        except lab.Failed as error:
            print(f"FAILED {name}: {error}", flush=True)
            break
        except Exception:
            print(f"FAILED {name}: {traceback.format_exc()}", flush=True)
            break
        held += 1
        print(f"ok {name}", flush=True)
    print(f"{held} of {len(checks)} hold", flush=True)
    shutil.rmtree(lab.HOME, ignore_errors=True)
    return 0 if checks and held == len(checks) else 1


sys.exit(main())
