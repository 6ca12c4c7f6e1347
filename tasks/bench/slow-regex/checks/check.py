import itertools
import random
import re

from lab import probe, same

LINE = re.compile(
    r'^(?P<host>([a-z0-9]+[.-]?)+) \[(?P<when>[^]]+)\] "(?P<method>[A-Z]+) (?P<path>(/[^/" ]*)*/?)( (?P<tags>(\w+\s?,?\s?)*))?" '
    r"(?P<status>\d{3}) (?P<size>\d+|-)$"
)


def parsed(lines, cpu_s=0):
    return probe(f"from accesslog import parse; give([parse(line) for line in {lines!r}])", cpu_s=cpu_s)


def check_what_was_matched_still_is():
    hosts = ["a", "a.b", "a-b.c", "a.", "a-", ".a", "a..b", "a-.b", "A", "", "a_b", "1.2.3.4"]
    paths = ["/", "", "//", "/a/", "/a/b", "a", "/a//b", "/a?b=c;d", "/ä", "/a\tb"]
    tags = [None, "", "x", "x,y", "x, y", "x ,y", "x , y", "x  y", "x,,y", ",x", "x,", "x, ", "x ", " x", "x y z",
            "x_1", "x-y", "ä", "x ,  y", "x\ty", "x, y ,z , ", " ", ","]
    ends = ["200 5", "200 -", "20 5", "200 5\n", "200  5", "200 -5", "200 5 "]
    lines = [f'{host} [w] "GET {path}" 200 5' for host, path in itertools.product(hosts, paths)]
    lines += [f'h [w w] "GET {path}{"" if tag is None else " " + tag}" 200 5'
              for path, tag in itertools.product(paths[:5], tags)]
    lines += [f'h [w] "GET / x" {end}' for end in ends] + ["", "h", 'h [] "GET /" 200 1', 'h [a]b] "GET /" 200 1',
              'h [w] "get /" 200 1', 'h [w] "GET /"', 'h [w] " /" 200 1', 'h [w] "GET /x\ny" 200 1']
    for line, found in zip(lines, parsed(lines)):
        match = LINE.match(line)
        same(found, match.groupdict() if match else None, repr(line))


def check_lines_by_chance():
    chance = random.Random(3)
    lines = []
    for _ in range(3000):
        host = "".join(chance.choice("ab1.-") for _ in range(chance.randint(1, 6)))
        path = "".join(chance.choice('/ax"') for _ in range(chance.randint(0, 4)))
        tags = "".join(chance.choice("xy,, \t-") for _ in range(chance.randint(0, 7)))
        lines.append(f'{host} [w] "GET {path}{chance.choice(["", " " + tags])}" 200 1')
    for line, found in zip(lines, parsed(lines)):
        match = LINE.match(line)
        same(found, match.groupdict() if match else None, repr(line))


def check_no_line_hangs():
    many = 9000
    lines = ["a" * many + '! [x] "GET /" 200 5', "a." * (many // 2) + '! [x] "GET /" 200 5', "a1" * (many // 2),
             'h [x] "GET /' + "/a" * (many // 2) + '\\n" 200', 'h [x] "GET ' + "/" * many + '" 200 x',
             'h [x] "GET / ' + "x" * many + '!" 200 5', 'h [x] "GET / ' + "x " * (many // 2) + '!" 200 5',
             'h [x] "GET / ' + "x, " * (many // 3) + '!" 200 5', 'h [x] "GET / ' + "x , " * (many // 4) + '-" 200 5',
             "h [" + "x" * many + "", 'h [x] "' + "G" * many + " /", 'h [x] "GET / x" 200 ' + "1" * many + "x"]
    same(parsed(lines, cpu_s=1), [None] * len(lines), "long lines that are none")
    fine = 'h [x] "GET ' + "/a" * 3000 + " " + "tag, " * 800 + '" 200 5'
    found = parsed([fine], cpu_s=1)[0]
    same((found or {}).get("status"), "200", "a long line that is one")
