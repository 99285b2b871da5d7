# SPDX-License-Identifier: Apache-2.0
"""Greenlets: stacks of the one that runs, and of those that wait."""
import json
import subprocess

from harness import (Target, check, check_equal, check_sampled, default_interpreter, find_interpreters, line_text,
                     pieprofd, profile, with_packages)
from test_dump import dumped, waiting_target
from test_unstopped import own_time, profile_without_perf
from test_refusals import EPERM

MAIN = "greenlet.greenlet"


def marks(frames):
    """What the target's lines say of themselves, outermost first, as far as they say something."""
    lines = [line_text(frame) for frame in frames if frame["kind"] == "python" and
             frame["file"].endswith("/greenlets.py")]
    return tuple(line.split("# ")[1] for line in lines if "# " in line)


def waiting_greenlets(dump, tid):
    """Of one thread: (type, main, marks), sorted."""
    return sorted((greenlet["type"], greenlet["main"], marks(greenlet["frames"])) for greenlet in dump["greenlets"]
                  if greenlet["tid"] == tid and not greenlet["running"])


def check_stack_ends_at_base(frames, interpreter):
    """Outermost comes native code of greenlet, and no evaluation loop is left without its Python frame."""
    check("greenlet" in frames[0].get("library", ""), "%s: outermost is %r" % (interpreter.name, frames[0]))
    left = [frame for frame in frames if frame.get("function") == "_PyEval_EvalFrameDefault"]
    check_equal(left, [], "evaluation loops without a frame")
    check(not any("unmatched" in frame for frame in frames), "unmatched frames in %r" % frames)


# What the thread's stack and its greenlets are, in the thread "other" without the one that runs and those that wait
# for it.
WAITING = sorted([
    ("Worker", False, ("calls leave", "leaves")),
    (MAIN, False, ("sorts", "sorts", "leaves")),
    (MAIN, False, ("consumes", "is in a generator", "leaves")),
    (MAIN, False, ("calls leave", "leaves")),
])


def check_plain(interpreter):
    with waiting_target(interpreter, "greenlets.py", "greenlet") as (target, _):
        dump = dumped(target.pid)
        text = pieprofd("dump", "--pid", target.pid, "--no-native").stdout
    threads = {thread["name"]: thread for thread in dump["threads"]}
    first, other = threads["MainThread"], threads["other"]
    check_equal(marks(first["frames"]), ("runs read_input", "reads"), "the greenlet that runs")
    check_stack_ends_at_base(first["frames"], interpreter)
    if interpreter.version < (3, 7):
        check_equal(dump["greenlets"], None, "greenlets")
        check_equal(first["greenlet"], None, "greenlet of a thread")
        check("greenlets are not shown" in text, text)
        return
    check_equal(dump["greenlets_incomplete"], False, "greenlets_incomplete")
    check_equal(waiting_greenlets(dump, first["tid"]), sorted(WAITING + [(MAIN, True, ("starts run",))]),
                "greenlets of the first thread")
    check_equal(waiting_greenlets(dump, other["tid"]), WAITING, "greenlets of the other thread")
    check_equal(other["greenlet"], None, "greenlet that runs in the other thread")
    running = dump["greenlets"][first["greenlet"]]
    check_equal(running, {"type": MAIN, "tid": first["tid"], "main": False, "running": True, "frames": []},
                "the greenlet that runs")
    check_equal(len(dump["greenlets"]), 10, "greenlets")
    for words in ("runs greenlet " + MAIN, "MAIN GREENLET of thread %d  waiting" % first["tid"],
                  "GREENLET of thread %d  waiting\n    Worker\n" % other["tid"]):
        check(words in text, "%r is not in %s" % (words, text))


def test_greenlets(interpreter):
    check_plain(with_packages(interpreter, "greenlet"))


def test_older_greenlet(one_interpreter):
    """The fields of greenlet 1 are elsewhere, those of 2 and 3.0 by one word: that of Debian 12 is 2.0.2."""
    for version in ("1.1.3", "2.0.2"):
        check_plain(with_packages(one_interpreter, "greenlet==" + version))


def test_gevent_and_eventlet(one_interpreter):
    interpreter = with_packages(one_interpreter, "gevent")
    for kind, worker, hub in (("gevent", "gevent._gevent_cgreenlet.Greenlet", "Hub"),
                              ("eventlet", "GreenThread", MAIN)):
        waiting = [(worker, False, ("waits for an event",))] * 3 + [(worker, False, ("sleeps",)), (MAIN, True, ("joins",))]
        with Target(interpreter, "greenlets.py", kind, "--idle", stdin=subprocess.DEVNULL) as target:
            dump = dumped(target.pid, "--no-native")
            text = pieprofd("dump", "--pid", target.pid, "--no-native").stdout
            target.check_undisturbed()
        thread = next(thread for thread in dump["threads"] if thread["tid"] == target.pid)
        check_equal(dump["greenlets"][thread["greenlet"]]["type"], hub, "the greenlet that runs")
        check_equal(waiting_greenlets(dump, target.pid), sorted(waiting), "greenlets of idle " + kind)
        check("3 GREENLETS of thread %d  waiting, all alike" % target.pid in text, text)
        if kind == "eventlet":
            continue
        # A worker runs, and the hub is one of those that wait.
        with waiting_target(interpreter, "greenlets.py", kind) as (target, _):
            dump = dumped(target.pid)
        thread = next(thread for thread in dump["threads"] if thread["tid"] == target.pid)
        check_equal(marks(thread["frames"]), ("runs read_input", "reads"), "the greenlet that runs")
        check_equal(dump["greenlets"][thread["greenlet"]]["type"], worker, "its type")
        check_equal(waiting_greenlets(dump, target.pid), sorted(waiting + [(hub, False, ())]), "greenlets of " + kind)


def check_spinning(interpreter, report):
    hot = max(report["lines"], key=own_time)
    check_equal(marks([dict(hot, kind="python")]), ("spins",), "%s: the hottest line, %r" % (interpreter.name, hot))
    check_sampled(report["losses"].get("python_invalid", 0) <= report["samples"] // 10,
                  "%s: %s of %d samples" % (interpreter.name, report["losses"], report["samples"]))


def interpreters_of_each_chain():
    """To 3.10, 3.11, 3.12, and later."""
    chosen = {}
    for interpreter in find_interpreters():
        if not interpreter.in_root:
            chosen.setdefault(min(max(interpreter.version[1], 10), 13), interpreter)
    return chosen.values()


def test_profile():
    for interpreter in map(lambda found: with_packages(found, "greenlet"), interpreters_of_each_chain()):
        with Target(interpreter, "greenlets.py", "greenlet", "--spin") as target:
            report, _ = profile(target.pid, "-d", 0.7, "--mode", "time")
            target.check_undisturbed()
        check_spinning(interpreter, report)
        check_sampled(report["losses"].get("merge_failed", 0) <= report["samples"] // 10,
                      "%s: %s of %d samples" % (interpreter.name, report["losses"], report["samples"]))


def test_native_code_alone():
    """A greenlet without Python frames, where only its main one has some: nothing is wrong with the interpreter."""
    for interpreter in interpreters_of_each_chain():
        with waiting_target(with_packages(interpreter, "greenlet"), "greenlets.py", "greenlet", "--native") as (target, _):
            dump = dumped(target.pid)
            python_only = dumped(target.pid, "--no-native")
        thread = next(thread for thread in dump["threads"] if thread["name"] == "MainThread")
        check_stack_ends_at_base(thread["frames"], interpreter)
        check_equal([frame for frame in thread["frames"] if frame["kind"] == "python"], [], "Python frames")
        check_equal(next(thread for thread in python_only["threads"] if thread["name"] == "MainThread")["frames"], [],
                    "frames without native ones")
        if interpreter.version >= (3, 7):
            check(dump["greenlets"][thread["greenlet"]]["running"], "%s: no greenlet runs" % interpreter.name)
            check_equal(waiting_greenlets(dump, thread["tid"]), sorted(WAITING + [(MAIN, True, ("starts a read",))]),
                        "greenlets of the first thread")


def test_unstopped():
    for interpreter in interpreters_of_each_chain():
        if interpreter.version[1] in (11, 12):
            interpreter = with_packages(interpreter, "greenlet")
            with Target(interpreter, "greenlets.py", "greenlet", "--spin") as target:
                report, _, _ = profile_without_perf(target, EPERM, "-d", 1)
            check_equal(report["sampler"], "unstopped", "sampler")
            check_spinning(interpreter, report)


MANY = """
import greenlet, time
main = greenlet.getcurrent()
def wait(depth):
    return wait(depth - 1) if depth > 1 else main.switch()
kept = [greenlet.greenlet(wait) for _ in range(%d)]
for one in kept:
    one.switch(%d)
print("ready", flush=True)
time.sleep(1000)
"""


def test_bounds():
    """4,096 greenlets and of each 64 frames are read; the main one runs, so it is not shown."""
    interpreter = with_packages(default_interpreter(), "greenlet")
    for count, depth, left_out in ((4095, 1, 0), (4096, 1, 1), (3, 64, 0), (3, 65, 1)):
        with subprocess.Popen([interpreter.path, "-c", MANY % (count, depth)], stdout=subprocess.PIPE, text=True,
                              env=interpreter.environment) as target:
            try:
                check_equal(target.stdout.readline(), "ready\n", "first line")
                dump = json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout)
            finally:
                target.kill()
        check_equal(dump["target_limit"], left_out, "left out of %d greenlets of %d frames" % (count, depth))
        check(len(dump["greenlets"]) in (count, 4095), "%d greenlets" % len(dump["greenlets"]))
        check_equal({len(greenlet["frames"]) for greenlet in dump["greenlets"]}, {min(depth, 64)}, "frames of each")
