from lab import files, probe, same, true, unchanged

CASES = {
    "Hello, World!": "hello-world", "  Käse & Brot ": "kase-brot", "Straße": "strasse", "a__b": "a-b", "...": "untitled",
    "": "untitled", "日本": "untitled", "Ça va? — Oui": "ca-va-oui", "x" * 50: "x" * 40, "ab " * 20: ("ab-" * 20)[:38].rstrip("-"),
    "2024: a year": "2024-a-year", "one two three four five six seven eight nine": "one-two-three-four-five-six-seven-eight",
    "a" * 39 + " b": "a" * 39, "a" * 40 + " b": "a" * 40, "a" * 41 + " b": "a" * 40, "É" * 41: "e" * 40, "-a-": "a",
    "snake_case": "snake-case", "a\u0301bc": "abc", "ẞ": "ss", "tab\tnew\nline": "tab-new-line",
}


def check_slugs():
    found = probe(f"from slug import slug; give([slug(title) for title in {list(CASES)!r}])")
    for (title, wanted), made in zip(CASES.items(), found):
        same(made, wanted, repr(title))


def check_nothing_else_was_done():
    unchanged("test_slug.py", "NOTES.md")
    same([name for name in files() if not name.startswith("test_")], ["NOTES.md", "slug.py"], "files but tests")
