#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long stops last and what they really cost, for one or more builds side by side.

    tests/bench/stop_times.py [--rounds N] [--seconds S] [BINARY[,OPTION...] ...]

Every round profiles one and the same running target with every build in turn,
in an order that alternates: other work on the machine then strikes all alike.
Options of the daemon may follow a binary, by commas. Figures are medians over
the rounds:

  sample, breakpoint microseconds from the event until the thread is let go: p50 and p99
  lost a stop        by the kernel's accounts: microseconds that the target's thread
                     neither ran nor slept by itself, a stop; its own wake-up included,
                     what it loses without the daemon taken off
  overhead           the same as a share of the time
  claimed            the share as the daemon reckons it
  followed           accesses followed a second
"""
import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # noqa: E402

SETTLE = 0.3  # seconds until a daemon that has attached samples as it will


def ran_ns(pid):
    """CPU time of the main thread."""
    with open("/proc/%d/task/%d/schedstat" % (pid, pid)) as file:
        return int(file.read().split()[0])


def lost(pid, seconds):
    """Share of the time in which a thread that never sleeps did not run."""
    began, ran = time.monotonic_ns(), ran_ns(pid)
    time.sleep(seconds)
    elapsed = time.monotonic_ns() - began
    return max(0.0, 1 - (ran_ns(pid) - ran) / elapsed)


def measure(pid, build, seconds, folder):
    binary, *options = build.split(",")
    path = os.path.join(folder, "profile.json")
    harness.PIEPROFD = binary
    with harness.Daemon("--pid", pid, "-d", seconds, "-q", "-o", path, *options) as daemon:
        harness.wait_attached(pid)
        time.sleep(SETTLE)
        share = lost(pid, seconds - 2 * SETTLE)
        daemon.finish()
    with open(path) as file:
        report = harness.json.load(file)
    stops = report["stop_ns"]
    duration = report["duration_ns"] / 1e9
    figures = {
        "share": share,
        "stops": stops["count"] / duration,
        "claimed": report["overhead"],
        "followed": (report["loads"]["sampled"] + report["stores"]["sampled"]) / duration,
        "period": report["period_ns"] / 1e6,
    }
    for kind in ("sample", "breakpoint"):
        times = stops.get(kind, stops)
        figures[kind + " p50"] = times["p50"] / 1e3
        figures[kind + " p99"] = times["p99"] / 1e3
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", default=[harness.PIEPROFD], metavar="BINARY")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="length of one profile")
    parser.add_argument("--script", default="conv_backprop.py", help="the target, of tests/targets")
    arguments = parser.parse_args()

    interpreter = harness.default_interpreter()
    total = (arguments.seconds + 2) * (arguments.rounds * len(arguments.builds) + 1)
    results = {build: [] for build in arguments.builds}
    idle = []
    with harness.tempfile.TemporaryDirectory(prefix="pieprofd-bench-") as folder:
        with harness.Target(interpreter, arguments.script, "--seconds", total) as target:
            for number in range(arguments.rounds):
                idle.append(lost(target.pid, 1))
                for build in arguments.builds[::-1] if number % 2 else arguments.builds:
                    results[build].append(measure(target.pid, build, arguments.seconds, folder))
    print("%s on %s, %d processors, %d rounds of %g s; without the daemon %.2f%% are lost" % (
        arguments.script, interpreter.name, os.cpu_count(), arguments.rounds, arguments.seconds,
        100 * statistics.median(idle)))
    print("| build | sample p50 / p99 | breakpoint p50 / p99 | lost a stop | stops a second | overhead | claimed "
          "| period, ms | followed a second |")
    print("|---|---|---|---|---|---|---|---|---|")
    for build in arguments.builds:
        rounds = results[build]
        middle = {key: statistics.median(figures[key] for figures in rounds) for key in rounds[0]}
        net = statistics.median(figures["share"] - base for figures, base in zip(rounds, idle))
        print("| %s | %.0f / %.0f | %.0f / %.0f | %.0f | %.0f | %.2f%% | %.2f%% | %.1f | %.1f |" % (
            build, middle["sample p50"], middle["sample p99"], middle["breakpoint p50"], middle["breakpoint p99"],
            1e6 * net / middle["stops"], middle["stops"], 100 * net, 100 * middle["claimed"], middle["period"],
            middle["followed"]), flush=True)


if __name__ == "__main__":
    main()
