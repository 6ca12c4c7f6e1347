"""Writes the 300 modules of the example's project: python3 generate.py DIRECTORY."""

import sys
from pathlib import Path

SERVICES = ("billing", "catalog", "delivery", "invoices", "mail", "orders", "refunds", "search", "stock", "users")
STEPS = 30

ONE_LINE = '''\
"""{service}: step {step}."""

from net import fetch


def step_{step}(key):
    return fetch(f"/{service}/{{key}}/{step}"{timeout})
'''
SEVERAL_LINES = '''\
"""{service}: step {step}. Slow on Mondays: mind the timeout."""

from net import fetch


def step_{step}(key):
    return fetch(
        f"/{service}/{{key}}/{step}",
        {timeout}
    )
'''


def main(directory):
    for row, service in enumerate(SERVICES):
        for step in range(STEPS):
            is_missing = (row * STEPS + step * 7) % 12 == 5
            is_long = step % 4 == 3
            timeout = ("retries=2," if is_missing else "timeout=5,") if is_long else ("" if is_missing else ", timeout=5")
            text = (SEVERAL_LINES if is_long else ONE_LINE).format(service=service, step=f"{step:02}", timeout=timeout)
            path = Path(directory, "services", service, f"step_{step:02}.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
