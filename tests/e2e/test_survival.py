# SPDX-License-Identifier: Apache-2.0
"""The first rule: whatever happens to the daemon, the target goes on undisturbed."""
import os
import sys

from harness import ROOT, check_equal, find_interpreters

sys.path.insert(0, os.path.join(ROOT, "tests", "torture"))

import kill_daemon  # noqa: E402


def test_daemon_killed_100_times():
    result = kill_daemon.torture(find_interpreters(), rounds=100, seed=2)
    print("  %s" % result)
    check_equal(result.rounds, 100, "rounds")
    check_equal((result.deaths, result.left_stopped, result.left_traced, result.breakpoints_taken), (0, 0, 0, 0),
                "deaths, left stopped, left traced, breakpoints taken")
