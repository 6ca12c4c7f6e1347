"""Lines of an access log."""

import re

# Each repetition begins with what the one before cannot hold, so that a text can be read in one way only.
LINE = re.compile(
    r"^(?P<host>[a-z0-9]+(?:[.-][a-z0-9]+)*[.-]?) "
    r"\[(?P<when>[^]]+)\] "
    r'"(?P<method>[A-Z]+) (?P<path>(?:/[^" ]*)?)'
    r"( (?P<tags>(?:\w+(?:(?:\s,\s|\s,|,\s|\s\s|\s|,)\w+)*(?:\s,\s|\s,|,\s|\s\s|\s|,)?)?))?\" "
    r"(?P<status>\d{3}) (?P<size>\d+|-)$"
)


def parse(line):
    """The parts of a line as a dict of texts (None for no tags); None for a line that is none."""
    match = LINE.match(line)
    return match.groupdict() if match else None
