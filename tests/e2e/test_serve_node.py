# SPDX-License-Identifier: Apache-2.0
"""`serve --all-python`: more processes than may be sampled at a time take turns, and none is left out."""

import contextlib
import os
import subprocess
import tempfile
import time

from harness import alone, check, check_sampled, default_interpreter, pieprofd, wait_until
from test_serve import Server, raw_profile
from test_serve_several import metric

# More than the daemon has sessions for.
WORKERS = 34
WORK = "import time\nwhile True:\n    sum(range(20000))\n    time.sleep(0.05)\n"


@contextlib.contextmanager
def light_worker():
    process = subprocess.Popen([default_interpreter().path, "-c", WORK])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@alone  # whatever is Python is taken, other tests' targets, too
def test_all_take_turns():
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        workers = [stack.enter_context(light_worker()) for _ in range(WORKERS)]
        # As much as it likes, so that the test is short: the budget has a test of its own.
        with Server(0, "--all-python", "--mode", "time", "--node-overhead", "100%",
                    listen="unix:" + folder + "/s") as server:
            wait_until(lambda: metric(server, "processes") >= 32, 60, "all places to be taken")
            check(metric(server, "processes") <= 32, "more sessions than there may be")
            missing, ends = {process.pid for process in workers}, time.monotonic() + 60
            while missing and time.monotonic() < ends:
                raw = raw_profile(folder, server.get("/debug/pprof/profile?seconds=5"))
                missing -= {pid for pid in missing if "process %d (" % pid in raw}
            check_sampled(not missing, "never sampled: %s" % missing)
            server.finish()


def test_refusals():
    for words, said in ((("--all-python", "--name", "x"), "takes no --name"), (("--node-overhead", "1%", "--pid", "1"), "goes with"),
                        (("--all-python", "--node-overhead", "0"), "machine's time")):
        output = pieprofd("serve", *words, "--listen", "unix:" + os.devnull, code=2).stderr
        check(said in output, output)
