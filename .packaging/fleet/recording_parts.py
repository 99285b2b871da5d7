# SPDX-License-Identifier: Apache-2.0
"""What ray_fold.py and dask_fold.py share: recordings made one, in parts, by whatever runs the parts."""

import os
import subprocess
import sys
import tempfile

PART = 500
PIEPROFD = os.environ.get("PIEPROFD", "pieprofd")


def report(names, output):
    subprocess.run([PIEPROFD, "report", "@-", "-q", "-o", output], input="\0".join(names) + "\0", text=True, check=True)


def fold(names):
    """A recording of all of these, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.pieprof")
        report(names, path)
        with open(path, "rb") as file:
            return file.read()


def names_of(words):
    """Recordings of the words; @FILE has a name in each line."""
    for word in words:
        if word.startswith("@"):
            with open(word[1:], encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file if line.strip())
        else:
            yield word


def run(fold_parts):
    """fold_parts(parts): fold() of each list of names, in their order."""
    output, names = sys.argv[1], list(names_of(sys.argv[2:]))
    parts = fold_parts([names[i:i + PART] for i in range(0, len(names), PART)])
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, part in enumerate(parts):
            paths.append(os.path.join(folder, "%d.pieprof" % number))
            with open(paths[-1], "wb") as file:
                file.write(part)
        report(paths, output)
