# SPDX-License-Identifier: Apache-2.0
"""The shared command line and native library of tests/unseen, for the programs of this folder."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unseen"))

from native import load_fastseq  # noqa: E402, F401
from runner import run  # noqa: E402, F401
