# SPDX-License-Identifier: Apache-2.0
"""The program that does the work, and the permission that the kernel may want for it."""
from __future__ import annotations

import ctypes
import os

CARRIED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pieprofd")

# linux/prctl.h: "Yama" in bytes.
PR_SET_PTRACER = 0x59616D61


def find() -> str:
    """Its path: what $PIEPROFD names, else the one that the wheel carries. FileNotFoundError says why there is none."""
    path = os.environ.get("PIEPROFD") or CARRIED
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(
            "no program at %s: install pieprofd's wheel, or set PIEPROFD to where the program is" % path)
    return path


def permit_tracer(pid: int) -> None:
    """
    Lets a process and those below it trace this one, besides whoever may anyway; 0: nobody. Where Yama's ptrace_scope is
    1, a process may else trace those below it alone, and the program is below us. It can be read nowhere, so that a
    permission that something else in this process gave is lost. A kernel without Yama refuses the call, and needs none.
    """
    nothing = ctypes.c_ulong(0)
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(pid), nothing, nothing, nothing)
