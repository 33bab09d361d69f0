"""`python -m teml`: the program itself."""

import os
import sys

from .engine import program


def main():
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
