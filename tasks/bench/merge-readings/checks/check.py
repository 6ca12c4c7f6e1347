import json

from lab import PYTHON, run, same, text, write


def merged(a, b):
    write("given.jsonl", a)
    write("given.csv", "station,unix,temp_f\n" + b)
    done = run(*PYTHON, "merge.py", "given.jsonl", "given.csv")
    same(done.code, 0, f"exit code: {done.err[-300:]}")
    return done.out


def line(station, at, temp, filled=False):
    made = {"station": station, "at": f"2024-01-31T{at}:00Z", "temp_c": temp}
    if filled:
        made["filled"] = True
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n"


def reading(station, at, temp):
    return json.dumps({"station": station, "at": at, "temp_c": temp}) + "\n"


def check_the_example():
    done = run(*PYTHON, "merge.py", "a.jsonl", "b.csv")
    same(done.out, text("wanted.jsonl"), "a.jsonl and b.csv")


def check_offsets_and_minutes():
    found = merged(
        reading("x", "2024-01-31T23:59:59.999+14:00", 1) + reading("x", "2024-01-31T04:30:00-05:30", 3)
        + reading("x", "2024-01-31T10:00:30Z", 5), "")
    same(found, line("x", "09:59", 1.0) + line("x", "10:00", 4.0), "one minute, three clocks")


def check_rounding_is_away_from_zero_and_once():
    found = merged(reading("a", "2024-01-31T10:00:00+00:00", 0.25) + reading("a", "2024-01-31T10:05:00+00:00", -0.25)
                   + reading("a", "2024-01-31T10:10:00+00:00", -0.04)
                   + reading("a", "2024-01-31T10:15:00+00:00", 0.04) + reading("a", "2024-01-31T10:15:01+00:00", 0.06),
                   "")
    same(found, line("a", "10:00", 0.3) + line("a", "10:05", -0.3) + line("a", "10:10", 0.0)
         + line("a", "10:15", 0.1), "halves, minus zero, a mean")


def check_fahrenheit():
    found = merged("", "f,1706695200,212\nf,1706695500,-40\nf,1706695800,\nf,1706696100,50.9\ng,1706695200,100.04\n")
    same(found, line("f", "10:05", -40.0) + line("f", "10:15", 10.5) + line("g", "10:00", 37.8), "B alone")


def check_what_is_out_of_range_is_missing():
    found = merged(
        reading("r", "2024-01-31T10:00:00+00:00", 60) + reading("r", "2024-01-31T10:00:10+00:00", 60.01)
        + reading("r", "2024-01-31T10:04:00+00:00", -90.01) + reading("r", "2024-01-31T10:08:00+00:00", None)
        + reading("r", "2024-01-31T10:09:00+00:00", -90), "")
    same(found, line("r", "10:00", 60.0) + line("r", "10:09", -90.0), "range")


def check_gaps():
    found = merged("".join(reading("g", f"2024-01-31T10:{minute:02}:00+00:00", temp) for minute, temp in
                           ((0, 1.04), (2, 1.12), (5, 3), (7, None), (8, 4), (10, 4.1), (12, 4))), "")
    same(found, line("g", "10:00", 1.0) + line("g", "10:01", 1.1, True) + line("g", "10:02", 1.1)
         + line("g", "10:05", 3.0) + line("g", "10:08", 4.0) + line("g", "10:09", 4.1, True) + line("g", "10:10", 4.1)
         + line("g", "10:11", 4.1, True) + line("g", "10:12", 4.0), "gaps of one minute, and of two")


def check_stations_and_bad_lines():
    found = merged(
        '\n[1]\n{"station": 5, "at": "2024-01-31T10:00:00+00:00", "temp_c": 1}\n{"station": "s"}\n"x"\n{\n'
        + '{"station": "s", "temp_c": 1}\n'
        + reading('ü "q"', "2024-01-31T10:00:00+00:00", 1) + reading("Z", "2024-01-31T10:00:00+00:00", 2),
        'b,1706695200,32\n"a,b",1706695200,32\n')
    same(found, line("Z", "10:00", 2.0) + line("a,b", "10:00", 0.0) + line("b", "10:00", 0.0)
         + line('ü "q"', "10:00", 1.0), "stations")
