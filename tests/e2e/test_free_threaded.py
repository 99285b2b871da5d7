# SPDX-License-Identifier: Apache-2.0
"""Free-threaded builds: stacks, time and redundancy as of any other; no GIL, and what is not read is said."""
import json
import subprocess

from harness import (MANY_SAMPLES, Target, check, check_equal, check_sampled, copy_with, free_threaded_interpreters,
                     line_text, pieprofd, profile)
from test_dump import switches, waiting_target
import test_heap as test_heap_shapes

NOT_READ = "arguments of calls are not compared"


def own_time(entry):
    return entry["python_ns"] + entry["native_ns"] + entry["system_ns"]


def frames_of(thread):
    """Python frames, as traceback shows them."""
    return [[frame["function"].rpartition(".")[2], frame["line"]] for frame in thread["frames"]
            if frame["kind"] == "python"]


def test_dump():
    """Every thread's frames are its own, in whichever copy of the bytecode it is."""
    for interpreter in free_threaded_interpreters():
        with Target(interpreter, "free_threads.py", stdin=subprocess.PIPE) as target:
            expected = json.loads(target.process.stdout.readline())
            dump = json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout)
            text = pieprofd("dump", "--pid", target.pid).stdout
            target.check_undisturbed()
            target.finish()
        check_equal(dump["free_threaded"], True, "what the dump says of the build")
        threads = {thread["name"]: thread for thread in dump["threads"]}
        for name, frames in expected.items():
            mine = [frame for frame in frames_of(threads[name]) if frame[0] != "wait"]
            check_equal(mine, frames, "%s: frames of %s" % (interpreter.name, name))
        for name in ("one", "two"):
            functions = [frame[0] for frame in frames_of(threads[name])]
            check_sampled(functions[-1] in ("_bootstrap", name, "shared", "items") and name in functions,
                          "%s: frames of %s: %s" % (interpreter.name, name, threads[name]))
        check_equal({thread["gil"] for thread in dump["threads"]}, {None}, "who holds the GIL")
        check("threads; there is no GIL" in text and "free-threaded" in text, text)


def test_time():
    for interpreter in free_threaded_interpreters():
        with Target(interpreter, "free_threads.py", stdin=subprocess.PIPE) as target:
            report, text = profile(target.pid, "-d", 2, "--mode", "time", "--rate", 300, "--idle", *MANY_SAMPLES)
            target.check_undisturbed()
            target.finish()
        check(report["target"]["free_threaded"], report["target"])
        check_equal((report["gil_ns"], report["take_gil_ns"]), (None, 0), "time with the GIL")
        check_equal(text.count("GIL"), 1, "mentions of the GIL in %s" % text)
        times = {line_text(line).partition("# ")[2]: own_time(line) for line in report["lines"]}
        total = sum(report["time_ns"].values())
        check_equal(sum(map(own_time, report["threads"])), total, "time of all threads")
        check_sampled(times.get("shared", 0) > 0.2 * total and times.get("two", 0) > 0.1 * total,
                      "%s: %s of %d" % (interpreter.name, times, total))
        check_sampled(report["losses"].get("python_invalid", 0) < 0.02 * report["samples"], report["losses"])


def test_redundancy():
    for interpreter in free_threaded_interpreters():
        with Target(interpreter, "conv_backprop.py", "--seconds", 60) as target:
            report, text = profile(target.pid, "-d", 4, *MANY_SAMPLES)
            target.check_undisturbed()
        hot = max(report["lines"], key=own_time)
        check_sampled("g[f] += d[i, j, f] * r" in line_text(hot), "%s: the hottest is %s" % (interpreter.name, hot))
        loads = hot["loads"]
        check_sampled(loads["redundant"] > max(1, 0.5 * loads["sampled"]), "%s: %s" % (interpreter.name, loads))
        check(NOT_READ in " ".join(text.split()), text)


def test_with_the_gil_switched_on():
    for interpreter in free_threaded_interpreters()[-1:]:
        with Target(copy_with(interpreter, PYTHON_GIL="1"), "free_threads.py", stdin=subprocess.PIPE) as target:
            report, text = profile(target.pid, "-d", 1, "--mode", "time")
            dump = pieprofd("dump", "--pid", target.pid).stdout
            target.finish()
        check(report["gil_ns"], "time with the GIL: %s" % text)
        check("holds the GIL" in dump, dump)


def test_doctor():
    for interpreter in free_threaded_interpreters()[-1:]:
        with Target(interpreter, "free_threads.py", stdin=subprocess.PIPE) as target:
            doctor = pieprofd("doctor", "--pid", target.pid).stdout
            target.finish()
        check("free-threaded in" in " ".join(doctor.split()), doctor)


def test_heap():
    """
    Each object is in a page of mimalloc's, whose heap tells what it is; the truth is the collector's. There are a few more
    dicts, as with the GIL: the interpreter's own, which no object leads to.
    """
    for interpreter in free_threaded_interpreters(numpy=False):
        with waiting_target(interpreter, "heap_shapes.py", "--count", test_heap_shapes.COUNT) as (target, said):
            truth, before = json.loads(said[0]), switches(target.pid)
            heap, rss = test_heap_shapes.look_and_rss(target.pid)
            pieces = test_heap_shapes.look(target.pid, "--no-holders")
            check_equal(switches(target.pid), before, "times that threads went to sleep")
        test_heap_shapes.check_types(heap, truth, 0.001)
        test_heap_shapes.check_regions(heap, rss)
        test_heap_shapes.check_holders(heap, 8 if "ndarray" in truth["types"] else 0)
        test_heap_shapes.check_regions(pieces, rss)
        for name in ("Order", "Line", "set", "list", "dict"):
            test_heap_shapes.check_near(test_heap_shapes.count_of(pieces, name), truth["types"][name], 0.001,
                                        "%s, piece by piece" % name, 110)
        check_equal((heap["allocator"], heap["quality"]["torn_pools"], heap["quality"]["broken_heaps"]), (None, 0, 0),
                    "what was not read")
        check(heap["quality"]["pools"] > 50, "pages: %s" % heap["quality"])
