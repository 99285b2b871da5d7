# SPDX-License-Identifier: Apache-2.0
"""The first screen names the line that a program is slow for, and what to do about it."""
import os

from harness import check, check_sampled, default_interpreter, with_packages
from screens import PROGRAMS, Screen

SECONDS = 5
# One of each kind of reason; `make screens` and PIEPROFD_TEST_ALL=1 take all.
SHORT = ("auction_board.py", "guest_list.py", "photo_brightness.py", "weather_feed.py")


def case(wanted):
    def test():
        interpreter = default_interpreter()
        if wanted.needs != "numpy":
            interpreter = with_packages(interpreter, wanted.needs)
        screen = Screen(interpreter, wanted, SECONDS)
        check(not screen.too_large(), "%s: %s" % (screen.too_large(), screen.terminal))
        check_sampled(not screen.missing(), "%s: %s" % (screen.missing(), screen.piped))

    return test


for program in PROGRAMS:
    if program.script in SHORT or os.environ.get("PIEPROFD_TEST_ALL") == "1":
        globals()["test_" + program.script[:-3]] = case(program)
