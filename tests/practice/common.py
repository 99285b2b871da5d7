# SPDX-License-Identifier: Apache-2.0
"""The shared command line of tests/unseen, and fastseq.c, for the programs of this folder."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "unseen"))

import native  # noqa: E402
from runner import run  # noqa: E402, F401

FASTSEQ = os.path.join(HERE, "fastseq.c")


def load_fastseq():
    return native.load(FASTSEQ)


def build():
    return native.build(FASTSEQ)
