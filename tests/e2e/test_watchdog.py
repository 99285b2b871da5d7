# SPDX-License-Identifier: Apache-2.0
"""The daemon's own thread is held up for good while a thread of the target waits for it."""
import json
import os
import subprocess
import tempfile
import time

from harness import Daemon, Skip, Target, check, check_equal, wait_attached


def test_held_up_in_the_kernel(one_interpreter):
    """A read of the target's memory that never ends: the daemon must, and what it had sampled is reported."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path = os.path.join(folder, "profile.json")
        with Target(one_interpreter, "held_page.py", stdin=subprocess.PIPE) as target:
            with Daemon("--pid", target.pid, "--engine", "ptrace", "-d", 60, "-q", "-o", path) as daemon:
                wait_attached(target.pid)
                time.sleep(1)
                target.process.stdin.write("hold\n")
                target.process.stdin.flush()
                if target.process.stdout.readline() != "held\n":
                    raise Skip("no userfaultfd here")
                daemon.finish(code=1, timeout=60)
                check("held up in the kernel" in daemon.stderr, daemon.stderr)
            target.check_undisturbed()
            target.process.stdin.close()
            output = target.process.stdout.read()
            check_equal(target.process.wait(timeout=60), 0, "exit code of the target, which said %r" % output)
            check(output.startswith("ok held_page"), output)
        with open(path) as file:
            report = json.load(file)
    check_equal(report["losses"].get("stop_abandoned"), 1, "stops given up")
    check(report["samples"] > 0, "what was sampled before is not reported")
