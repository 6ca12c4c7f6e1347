import shlex

from lab import DATA, PYTHON, files, run, same, text, true, unchanged


def check_the_answer_works():
    line = text("ANSWER.txt").strip()
    true("\n" not in line, "one line")
    words = shlex.split(line.strip("`$ "))
    same(words[:2], ["python3", "report.py"], "its first words")
    write_more = "2023-01-01 error\n2024-03-01 late\n2024-12-31 login\n"
    with open("events.txt", "a", encoding="utf-8") as file:
        file.write(write_more)
    done = run(*PYTHON, *words[1:])
    with open("events.txt", "w", encoding="utf-8", newline="") as file:
        file.write(DATA["start/events.txt"])
    same((done.code, done.out), (0, "error 1\nlate 1\nlogin 3\n"), "what it prints")


def check_nothing_was_changed():
    unchanged("report.py", "events.txt")
    same(files(), ["ANSWER.txt", "events.txt", "report.py"], "files")
