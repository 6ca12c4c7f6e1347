from lab import PYTHON, run, same, text, true


def cleaned(given, encoding="utf-8"):
    with open("given.csv", "wb") as file:
        file.write(given.encode(encoding))
    done = run(*PYTHON, "clean.py", "given.csv", "made.csv")
    same(done.code, 0, f"exit code: {done.err[-300:]}")
    return text("made.csv")


def rows(*lines):
    return "name,email,phone,city\n" + "".join(line + "\n" for line in lines)


def check_the_file_that_is_there():
    done = run(*PYTHON, "clean.py", "contacts.csv", "out.csv")
    same(done.code, 0, f"exit code: {done.err[-300:]}")
    same(text("out.csv"), rows("Ann Lee,ann@example.org,+49731223344,Ulm",
                               "Bob,bob@example.org,+492219876543,Köln"), "out.csv")


def check_separators_columns_marks_and_line_ends():
    given = "\ufeff phone,Email , extra;x,NAME,City\r\n0151 23456,A@B,1,Zed,\"Bad; Ems\"\r\n,x@y,2,amy,\"a, b\"\r\n"
    same(cleaned(given), rows('amy,x@y,,"a, b"', "Zed,a@b,+4915123456,Bad; Ems"), "a comma file")
    same(cleaned("name;email;phone;city\n"), rows(), "no rows")


def check_values():
    given = ("name,email,phone,city\n"
             "A,a@@b,0049 30,x\nB,@b,+1 (2) 3-456,  New\u00a0\u00a0 York \nC,c@d@e,00123456,\n"
             "D,d@,01234 5,\nE,  E@F.g ,00 12,\n F\u00a0 G ,,0 0 4 9 1 2 3 4,\nH,,12345,\nI,,123456,\n"
             "J,,+0123456,\n,k@l,,\n\u00a0,m@n,,\nK,,+,\n")
    same(cleaned(given), rows("B,,+123456,New York", "C,,+123456,", "D,,+4912345,", "E,e@f.g,,", "F G,,+491234,",
                              "I,,123456,", "J,,+0123456,"), "values")


def check_few_digits_are_empty():
    given = "name,email,phone,city\nA,a@b,0301,x\nB,b@b,03012,x\nC,,+12345,x\nD,d@d,+123456,x\n"
    same(cleaned(given), rows("A,a@b,,x", "B,b@b,+493012,x", "D,d@d,+123456,x"), "fewer than 6 digits")


def check_the_same_contact_is_one_row():
    given = ("name,email,phone,city\n"
             "Zoe,,0711 123456,\nzoe,z@z,,Ulm\nZOE,Z@Z,0711123456,Bonn\n"
             "Max,m@m,0711,Ulm\nMoritz,M@M,0711 654321,\nMax,,0711654321,\n")
    same(cleaned(given), rows("Max,,+49711654321,", "Max,m@m,+49711654321,Ulm", "Zoe,z@z,+49711123456,Ulm"),
         "joined by a third row, filled in order")


def check_order():
    given = "name,email,phone,city\nb,2@x,,\nB,1@x,,\na,,123456,\nA,,+123456,\nc,z@z,,\nÄ,y@y,,\n"
    same(cleaned(given).split("\n")[1:5], ["A,,+123456,", "a,,123456,", "B,1@x,,", "b,2@x,,"], "rows")
