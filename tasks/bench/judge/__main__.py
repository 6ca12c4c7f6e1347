"""Judges the directory that it is started in: `python3 -I -S -B judge`; 0 when every check holds.

The checks are read into memory and taken off the disk before any judged code runs, so that none can read
them. Each function of checks/check.py whose name begins with `check_` is one check; all are run.
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
    failed = 0
    for name, check in checks.items():
        try:
            check()
        except lab.Failed as error:
            failed += 1
            print(f"FAILED {name}: {error}", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {name}: {traceback.format_exc()}", flush=True)
        else:
            print(f"ok {name}", flush=True)
    print(f"{len(checks) - failed} of {len(checks)} hold", flush=True)
    shutil.rmtree(lab.HOME, ignore_errors=True)
    return 1 if failed or not checks else 0


sys.exit(main())
