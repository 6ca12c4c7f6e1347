import os

from lab import files, probe, same, text, true, unchanged


def check_prices():
    cases = [([(200, 2)], "DE", False), ([(1000, 1)], "AT", False), ([(29_980, 1)], "DE", True), ([(30_000, 1)], "DE", False),
             ([(30_000, 1)], "FR", True), ([(30_001, 1)], "DE", False), ([], "DE", False), ([(250, 4), (1500, 3)], "CH", True),
             ([(100_000, 5)], "DE", False), ([(15_000, 2)], "DE", False)]
    found = probe(f"from shop.shipping import shipping; give([shipping(*case) for case in {cases!r}])")
    same(found, ["4.70", "10.00", "29.49", "19.50", "49.00", "by freight", "4.50", "24.50", "by freight", "19.50"], "prices")


def check_defaults_and_report():
    same(probe("""
from shop.shipping import shipping
from shop.report import dearest
give([shipping([(400, 1)]), shipping([(400, 1)], express=True), dearest([[(400, 1)], [(90_000, 1)], [(8000, 1)], [(200, 1)]])])
"""), ["4.70", "14.70", [["by freight", 1], ["8.50", 2], ["4.70", 0]]], "defaults, report")


def check_labels():
    same(probe("""
from shop.labels import labels
give([labels([{"name": "Ann", "street": "Way 1", "city": "Ulm"}, {"name": "Bo", "street": "At 2", "city": "Bonn"}]), labels([])])
"""), ["Ann\nWay 1\nULM\n\nBo\nAt 2\nBONN", ""], "labels")


def check_the_old_library_is_gone():
    true(not os.path.exists("vendor/parcel1"), "vendor/parcel1 is deleted")
    ours = "".join(text(path) for path in files("shop") for path in [f"shop/{path}"])
    true("parcel1" not in ours, "nothing asks for parcel1")
    true("parcel2" in ours, "parcel2 is used")
    unchanged("vendor/parcel2/__init__.py", "vendor/parcel2/CHANGES.md")
    true("4.5" not in ours and "0.5 *" not in ours and "450" not in ours, "the library sets the prices")
