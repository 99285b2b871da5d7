# SPDX-License-Identifier: Apache-2.0
"""`pieprofd` and `python -m pieprofd`: this process becomes the program, with its arguments, rights and files."""
from __future__ import annotations

import os
import sys

from . import program


def main() -> None:
    try:
        os.execv(program.find(), ["pieprofd"] + sys.argv[1:])
    except OSError as error:
        sys.exit("pieprofd: %s" % error)


if __name__ == "__main__":
    main()
