# SPDX-License-Identifier: Apache-2.0
"""More threads than there are perf events for: by ptrace, those that run are sampled all the same, and the report says the limit."""
import ctypes
import os
import resource

from harness import MANY_SAMPLES, Skip, Target, alone, check, check_equal, check_sampled, profile

WORKERS = ("first_worker", "second_worker", "third_worker")
PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14
MEMLOCK, FILES = 64 << 10, 128
RING_BYTES = 2 * resource.getpagesize()
RINGS_MAX = 2000


def check_workers(interpreter, threads, loss, cure):
    with Target(interpreter, "many_threads.py", "--threads", threads, "--seconds", 9) as target:
        report, text = profile(target.pid, "--mode", "time", "--engine", "ptrace", "-d", 8, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    refused = report["losses"].get(loss, 0)
    check(0 < refused < threads, "%d of %d threads were refused; %s" % (refused, threads, report["losses"]))
    check(cure in text, "the text report lacks %r" % cure)
    check_sampled(report["samples"] > 100, "%d samples" % report["samples"])
    total = report["cpu_ns"]
    shares = {}
    for name in WORKERS:
        shares[name] = sum(function["total_ns"] for function in report["functions"]
                           if function["function"] == name) / total
    # The last one has two seconds of eight. A thread is looked at every few ticks.
    check_sampled(all(share > 0.15 for share in shares.values()), "shares %s" % shares)
    check_sampled(sum(shares.values()) > 0.75, "shares %s" % shares)
    rows = [thread["tid"] for thread in report["threads"]]
    check(len(rows) == len(set(rows)), "a thread has several rows: %s" % report["threads"])


@alone
def test_locked_memory(one_interpreter):
    with open("/proc/sys/kernel/perf_event_mlock_kb") as file:
        kernel = int(file.read()) * 1024 * os.cpu_count()
    rings = (kernel + MEMLOCK) // RING_BYTES
    if rings > RINGS_MAX:
        raise Skip("a user without privileges may have %d rings here" % rings)
    # Of what this process starts. Root is counted, too, without that capability.
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (MEMLOCK, MEMLOCK))
    if os.geteuid() == 0:
        check_equal(ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0), 0, "PR_CAPBSET_DROP")
    check_workers(one_interpreter, rings + 150, "thread_memory", "ulimit -l")


def test_open_files(one_interpreter):
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    check_workers(one_interpreter, 150, "thread_files", "ulimit -n")
