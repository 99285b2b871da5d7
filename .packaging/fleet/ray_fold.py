# SPDX-License-Identifier: Apache-2.0
"""
Folds recordings on a Ray cluster: each task folds a part of them into one recording, and the fold of
those is the fold of all.

    python3 ray_fold.py OUTPUT.pieprof RECORDING... | @NAMES

Nodes must see the recordings by the same names (a shared or mounted object store) and have pieprofd.
"""

import os
import subprocess
import sys
import tempfile

import ray

PART = 500
PIEPROFD = os.environ.get("PIEPROFD", "pieprofd")


@ray.remote
def fold(names):
    """A recording of all of these, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.pieprof")
        subprocess.run([PIEPROFD, "report", "@-", "-q", "-o", path], input="\0".join(names) + "\0", text=True, check=True)
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


def main():
    output, names = sys.argv[1], list(names_of(sys.argv[2:]))
    ray.init()
    parts = ray.get([fold.remote(names[i:i + PART]) for i in range(0, len(names), PART)])
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, part in enumerate(parts):
            paths.append(os.path.join(folder, "%d.pieprof" % number))
            with open(paths[-1], "wb") as file:
                file.write(part)
        subprocess.run([PIEPROFD, "report", "@-", "-q", "-o", output], input="\0".join(paths) + "\0", text=True, check=True)


if __name__ == "__main__":
    main()
