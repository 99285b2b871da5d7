# SPDX-License-Identifier: Apache-2.0
"""A pre-fork web server under load while its workers are served: the short form of tests/bench/soak.py."""
import os
import sys

from harness import ROOT, alone, check, check_sampled

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))

import soak  # noqa: E402


@alone
def test_web_server():
    """No request is lost or answered wrongly, workers may come and go; daemons do not grow. Latency is told only."""
    seen = soak.Soak(seconds=2.5, pairs=1, events=1, rate=160, window=0.5, rotate=1, settle=0.5, bare_events=False).run()
    seen.show()
    seen.verify()
    for daemon, metrics in zip(seen.measured, seen.metrics):
        check(metrics["pieprofd_rotations_total", None] >= 1, "no rotation")
        check_sampled(metrics["pieprofd_samples_total", None] >= 3, "no samples")
        check(daemon.windows >= 2, "%d windows" % daemon.windows)
    check(len(seen.marks) == 2, "no worker ended")
