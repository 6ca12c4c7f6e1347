import sys

from letters.render import render


def main():
    print(render("greeting", name=sys.argv[1]), end="")


if __name__ == "__main__":
    main()
