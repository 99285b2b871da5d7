# SPDX-License-Identifier: Apache-2.0
"""The first rule: whatever happens to the daemon or the target, the target goes on undisturbed."""
import os
import signal
import sys

from harness import ROOT, check, check_equal, find_interpreters, pieprofd

sys.path.insert(0, os.path.join(ROOT, "tests", "torture"))

import frame  # noqa: E402
import kill_daemon  # noqa: E402
import scenarios  # noqa: E402


def test_daemon_ended_100_times():
    result, ending = kill_daemon.torture(find_interpreters(), rounds=100, seed=2)
    print("  %s" % result)
    # Who may not load programs into the kernel is refused that engine.
    wanted = [mode for mode in kill_daemon.MODES if mode != "kernel" or os.geteuid() == 0]
    check_equal(sorted(ending.attached), sorted(wanted), "commands and modes ended at work")
    check_equal(result.rounds, 100, "rounds")
    check_equal(result.bad(), 0, "what was wrong with %s" % result)


def test_scenarios():
    """The short version of each; `make torture` plays the long ones."""
    wrong = []
    for name, _, short, _ in scenarios.SCENARIOS:
        if not short:
            continue
        try:
            result = scenarios.play(name, short, seed=3)
        except scenarios.Skip as reason:
            print("  %s: skipped: %s" % (name, reason))
            continue
        if result.bad() or result.rounds != short:
            wrong.append("%s: %s" % (name, result))
    check_equal(wrong, [], "scenarios that went wrong")


def test_stop_signal_is_not_a_handled_one():
    """A thread that blocks all signals must not drive us to one that has a handler."""
    for kind in ("handle", "block"):
        result = frame.Result()
        with frame.Subject(find_interpreters()[0], kind, result) as target:
            said = pieprofd("--pid", target.pid, "-d", 0.5, "-v", "-q").stderr
            check("stop signal SIG%s" % signal.SIGWINCH.name[3:] in said, said)
            target.inspect()
            target.end()
        check_equal(result.bad(), 0, "what was wrong with %s" % result)
