# SPDX-License-Identifier: Apache-2.0
"""What the listing_NN_*.py, twins_*.py and bulk_*.py targets share: two versions of one computation, run for a while.

Each of the first rewrites a listing of the paper (Tan et al., "Toward Efficient
Interactions between Python and Native Libraries", ESEC/FSE 2021; its numbering)
as a program: the inefficient lines, and around them other work that is hot too
but fine. A twin has two lines that take about as long as each other, one of
them inefficient. It belongs to those by which avoidable time is validated: change
the model by what the listings show, never by these. Of the bulk ones, whose calls are all long,
bulk_polynomial.py is for changing the model and bulk_template.py for validating it. Which is
which stands in comments that tests/bench/findings.py reads, each with the text of one line of
the file, or a part of it that only that line has:

    # guilty: TEXT              a line that should be found,
    # category: NAME [or NAME]  and under which category of table 1 (the line above),
    # mended: TEXT              a line that stands for them in the fixed version,
    # innocent: TEXT            a line with much work and nothing to save.
"""
import argparse
import time

import numpy as np

import support


def run(name, description, work, work_fixed, tolerance=1e-9):
    """work() and work_fixed() take nothing and return an array; the same one but for rounding.

    Each pass works from the same start, so that every pass must have the same result.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--fixed", action="store_true", help="the version without the inefficiency")
    parser.add_argument("--seconds", type=float, default=10, help="how long to work")
    parser.add_argument("--passes", type=int, help="how often to work, instead of --seconds")
    arguments = parser.parse_args()

    expected = np.asarray(work_fixed(), dtype=float)
    chosen = work_fixed if arguments.fixed else work
    problems = []

    support.ready()
    passes = 0
    began, cpu_began = time.monotonic(), time.process_time()
    while passes < arguments.passes if arguments.passes else time.monotonic() < began + arguments.seconds:
        result = np.asarray(chosen(), dtype=float)
        passes += 1
        if not np.allclose(result, expected, rtol=tolerance, atol=tolerance):
            problems.append("pass %d computed another result" % passes)
            break
    support.finish(
        name,
        problems,
        "passes=%d cpu_seconds=%.4f checksum=%.9g"
        % (passes, time.process_time() - cpu_began, float(np.abs(expected).sum())),
    )
