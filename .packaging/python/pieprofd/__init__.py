# SPDX-License-Identifier: Apache-2.0
"""pieprofd from within Python: the program profiles this process from outside, as it would any other.

    with pieprofd.profile(output="report.html") as profile:
        work()
    print(profile.text)
"""
from __future__ import annotations

from typing import Any

from .session import Profile, ProfileError, profile

__all__ = ["Profile", "ProfileError", "load_ipython_extension", "profile"]


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext pieprofd` calls."""
    from .magic import PieprofdMagics

    shell.register_magics(PieprofdMagics)
