from lab import run, same, text, true


def top(given, *words):
    return run("sh", "top.sh", *words, given=given)


def check_the_example():
    same(top("To be or not to be\n", "2").out, "2 be\n2 to\n", "output")


def check_order_and_case():
    given = "b a C\nc-B_a;A9b 'tis TIS zz\n\tZz zz it's"
    same(top(given, "20").out, "3 a\n3 b\n3 zz\n2 c\n2 tis\n1 it\n1 s\n", "output")
    same(top(given).out, "3 a\n3 b\n3 zz\n2 c\n2 tis\n1 it\n1 s\n", "N left out")


def check_ten_by_default_and_many_of_one():
    given = " ".join(chr(97 + n) for n in range(26)) + " x" * 120 + " y" * 99 + "\n"
    same(top(given).out.split("\n")[:4], ["121 x", "100 y", "1 a", "1 b"], "first lines")
    same(top(given).out.count("\n"), 10, "lines")
    same(top(given, "1").out, "121 x\n", "N of 1")
    same(top("-n -e \\t x\n", "9").out, "1 e\n1 n\n1 t\n1 x\n", "words that look like options")


def check_nothing():
    for given in ("", "\n\n", "123 ... 4!\n"):
        done = top(given, "3")
        same((done.code, done.out, done.err), (0, "", ""), f"no word in {given!r}")


def check_what_is_no_number():
    for word in ("0", "-1", "x", "1.5", "", "2x"):
        done = top("a\n", word)
        same((done.code, done.out), (2, ""), f"N {word!r}")
        same(done.err.count("\n"), 1, "lines on stderr")


def check_only_posix_tools():
    true(not any(word in text("top.sh") for word in ("python", "perl", "ruby", "node")), "no other language")
