from lab import gave, probe, same, true

RIGHT = {
    "90": 90, "0": 0, "007": 7, " 5 ": 5, "1h30m": 5400, "1h 30m 5s": 5405, "2d": 172800, "1d 2h": 93600,
    "1D2H3M4S": 93784, "90m": 5400, "36h": 129600, "\t1h\n5s ": 3605, "01:30": 90, "1:30": 90, "1:02:03": 3723,
    "100:00:00": 360000, "0:00": 0, "75:05": 4505, "0s": 0, " 10:00 ": 600,
}
WRONG = ["", " ", "x", "1 h", "1h1h", "30m1h", "5s 1m", "1.5h", "-5", "+5", "1:5", "1:60", "1:60:00", "1:00:60", "1:2:03",
         ":30", "1:", "1:00:00:00", "1h:30", "h", "1hh", "1w", "1h 30", "30 1h", "1,5h", "1h,30m", "1 2", "\u0661h",
         "\u0661", "1:\u0663\u0660", "1_0", "0x10", "1e3", "1 :30", "1: 30", "12:345", "\uff15s", "1h\x0030m"]


def check_what_is_one():
    found = probe(f"from durations import seconds; give([attempt(seconds, text) for text in {list(RIGHT)!r}])")
    for text, one in zip(RIGHT, found):
        gave(one, RIGHT[text], repr(text))


def check_what_is_none():
    found = probe(f"from durations import seconds; give([attempt(seconds, text) for text in {WRONG!r}])")
    for text, one in zip(WRONG, found):
        same(one[:2], ["raised", "ValueError"], repr(text))
        true(text.strip() == "" or text in one[2] or repr(text)[1:-1] in one[2] or ascii(text)[1:-1] in one[2],
             f"the error for {text!r} shows it: {one[2]!r}")
