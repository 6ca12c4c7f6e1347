"""Lines of an access log."""

import re

OUTER = re.compile(
    r'^(?P<host>[a-z0-9.-]+) \[(?P<when>[^]]+)\] "(?P<method>[A-Z]+) (?P<path>[^" ]*)( (?P<tags>[^"]*))?" '
    r"(?P<status>\d{3}) (?P<size>\d+|-)$"
)
GAP = re.compile(r"\w+")


def is_host(text):
    return text[0] not in ".-" and not re.search(r"[.-][.-]", text)


def is_tags(text):
    if not text:
        return True
    gaps = GAP.split(text)
    return gaps[0] == "" and all(re.fullmatch(r"\s?,?\s?", gap) for gap in gaps)


def parse(line):
    """The parts of a line as a dict of texts (None for no tags); None for a line that is none."""
    match = OUTER.match(line)
    if not match:
        return None
    found = match.groupdict()
    path, tags = found["path"], found["tags"]
    if is_host(found["host"]) and path[:1] in ("", "/") and (tags is None or is_tags(tags)):
        return found
    return None
