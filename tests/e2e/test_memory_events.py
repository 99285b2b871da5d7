# SPDX-License-Identifier: Apache-2.0
"""Memory accesses that the kernel samples with their addresses, as a processor's PMU does.

Few virtual machines have a PMU. Page faults are an event of the same interface
that any kernel has: here sysfs, as the daemon alone sees it, says that they
are the processor's sampling of stores. All that follows is real.
"""
import json
import os
import subprocess
import tempfile

from harness import PIEPROFD, Skip, Target, check_equal, check_sampled, default_interpreter
from test_refusals import checked, libc

LINE = "array[:] = 1.5"
DEVICES = "/sys/bus/event_source/devices"
# PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
FILES = {"type": "1", "format/event": "config:0-7", "events/mem-stores": "event=0x02"}


def pretend_stores():
    """sysfs with one PMU, which only this process and its children see."""
    checked(libc().unshare(0x00020000))  # CLONE_NEWNS
    checked(libc().mount(b"none", b"/", None, 0x44000, None))  # MS_REC | MS_PRIVATE
    checked(libc().mount(b"none", DEVICES.encode(), b"tmpfs", 0, None))
    for name, text in FILES.items():
        path = os.path.join(DEVICES, "cpu", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text + "\n")


def test_stores():
    with Target(default_interpreter(), "page_faults.py", "--seconds", 60) as target, \
            tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        try:
            subprocess.run([PIEPROFD, "--pid", str(target.pid), "-d", "6", "-q", "--stores", "--max-overhead", "20",
                            "-o", path], preexec_fn=pretend_stores, check=True)
        except subprocess.SubprocessError:
            if os.geteuid() == 0:
                raise
            raise Skip("needs root to change what the daemon sees")
        target.check_undisturbed()
        with open(path) as file:
            report = json.load(file)
    check_equal(report["sampler"], "pmu:cpu/mem-stores", "the sampler")
    check_equal(report["losses"].get("memory_events", 0), 0, "threads without memory samples")
    check_sampled(report["stores"]["reaccessed"] > 10, "only %s; lost: %s" % (report["stores"], report["losses"]))
    first = [pair for pair in report["pairs"] if any(frame.get("source") == LINE for frame in pair["first"])]
    check_sampled(first, "the line that fills is in no pair")
    check_equal(report["loads"]["sampled"], 0, "loads")
    check_sampled(report["stores"]["redundant"] > 0.8 * report["stores"]["reaccessed"],
                  "not redundant: %s" % report["stores"])
