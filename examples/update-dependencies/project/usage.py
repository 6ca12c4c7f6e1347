"""How much room directories take, as a table."""

import tabular
import units


def report(sizes):
    """One line a directory, the largest first, and their sum."""
    ordered = sorted(sizes.items(), key=lambda item: -item[1])
    rows = [(name, units.human(size)) for name, size in ordered]
    return tabular.table([*rows, ("total", units.human(sum(sizes.values())))])
