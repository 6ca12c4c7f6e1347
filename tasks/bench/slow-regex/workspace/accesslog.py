"""Lines of an access log."""

import re

LINE = re.compile(
    r'^(?P<host>([a-z0-9]+[.-]?)+) \[(?P<when>[^]]+)\] "(?P<method>[A-Z]+) (?P<path>(/[^/" ]*)*/?)( (?P<tags>(\w+\s?,?\s?)*))?" '
    r"(?P<status>\d{3}) (?P<size>\d+|-)$"
)


def parse(line):
    """The parts of a line as a dict of texts (None for no tags); None for a line that is none."""
    match = LINE.match(line)
    return match.groupdict() if match else None
