# SPDX-License-Identifier: Apache-2.0
"""System calls and allocations of the daemon that fail: the short version of `make check-faults`."""
import os
import sys
import tempfile

from harness import ROOT, Skip, check, check_equal, sanitized

sys.path.insert(0, os.path.join(ROOT, "tests", "torture"))

import allocations  # noqa: E402
import faults  # noqa: E402


def test_system_calls_fail():
    result, counts = faults.torture(faults.SHORT, seed=4)
    check_equal(result.bad(), 0, "what was wrong with %s" % result)
    check(not any(count.unused for count in counts.values()), "calls that were not made to fail: %s" %
          [call for call, count in counts.items() if count.unused])


def test_allocations_fail():
    if sanitized():
        raise Skip("AddressSanitizer replaces malloc, as the failing one does")
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        runs, wrong = allocations.offline(folder, stride=97, offset=13)
        print("  %d runs offline" % runs)
        check_equal(wrong, [], "ends of reports")
        result, _ = allocations.live(folder, ["profile"], sample=4, seed=5)
        check_equal(result.bad(), 0, "what was wrong with %s" % result)
