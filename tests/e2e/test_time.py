# SPDX-License-Identifier: Apache-2.0
"""Time: every line's share, split into interpreter, native code and kernel."""
import os

from harness import MANY_SAMPLES, Skip, Target, check, check_equal, check_sampled, find_interpreters, profile


def test_system_calls():
    if os.geteuid() != 0:
        raise Skip("needs root to sample time in the kernel")
    with Target(find_interpreters()[0], "system_calls.py", "--seconds", 7) as target:
        report, _ = profile(target.pid, "-d", 6, "--mode", "time", *MANY_SAMPLES)
        words = target.finish().split()[1:]
    truth = {name: float(seconds) for name, seconds in (word.split("=") for word in words)}
    functions = {name: {"python_ns": 0, "native_ns": 0, "system_ns": 0} for name in truth}
    for line in report["lines"]:
        for figure in functions.get(line["function"], ()):
            functions[line["function"]][figure] += line[figure]
    found = sum(sum(figures.values()) for figures in functions.values())
    check_equal(report["kernel_time_refused"], False, "kernel_time_refused")
    for name, figures in functions.items():
        share, expected = sum(figures.values()) / found, truth[name] / sum(truth.values())
        # Some 600 samples: four standard deviations are 8 points.
        check_sampled(abs(share - expected) < 0.08, "share of %s: %.3f, expected %.3f" % (name, share, expected))
    long_call, short_calls, interpreter = (functions[name] for name in
                                           ("one_long_call", "many_short_calls", "interpreter"))
    check_sampled(long_call["system_ns"] > 0.9 * sum(long_call.values()), "one_long_call: %s" % long_call)
    check_sampled(interpreter["system_ns"] < 0.1 * sum(interpreter.values()), "interpreter: %s" % interpreter)
    check_sampled(0.2 < short_calls["system_ns"] / sum(short_calls.values()) < 0.95,
                  "many_short_calls: %s" % short_calls)


def test_threads(one_interpreter):
    with Target(one_interpreter, "threads.py", "--threads", 3, "--seconds", 4) as target:
        report, text = profile(target.pid, "-d", 2.5, "--mode", "time")
        target.finish()
    working = [thread for thread in report["threads"] if thread["name"].startswith("Thread-")]
    check_equal(len(working), 3, "named threads among %s" % report["threads"])
    for kind in ("python", "native", "system"):
        check_equal(sum(thread["%s_ns" % kind] for thread in report["threads"]), report["time_ns"][kind],
                    "%s time of all threads" % kind)
    # Over time, the same to the nanosecond.
    slices = report["timeline"]["slices"]
    check(25 <= slices <= 512, "%d slices" % slices)
    for thread, over_time in zip(report["threads"], report["timeline"]["threads"]):
        check_equal(over_time["tid"], thread["tid"], "order of threads")
        check(over_time["slice"] == sorted(set(over_time["slice"])), "slices: %s" % over_time["slice"])
        check(all(0 <= at < slices for at in over_time["slice"]), "slices: %s" % over_time["slice"])
        for kind in ("python_ns", "native_ns", "system_ns"):
            check_equal(sum(over_time[kind]), thread[kind], "%s of %s over time" % (kind, thread["name"]))
    check("THREADS" in text and working[0]["name"] in text, "the text has no threads")
