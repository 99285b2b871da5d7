# SPDX-License-Identifier: Apache-2.0
"""`pieprofd heap -d`: what grows, what that means, and which line it is."""
import contextlib
import json
import os
import signal
import subprocess
import time

from harness import (TARGETS, Daemon, Skip, Target, check, check_equal, check_sampled, find_interpreters, pieprofd,
                     status_of, wait_until)

# On a machine that is busy with others it takes longer to see as much.
SECONDS = (4, 12, 36)
VERDICTS = {"keep": "leak", "link": "leak", "circle": "garbage", "allocate": "native", "refresh": "steady",
            "warm": "cache_warming", "scatter": "fragmentation"}
SCRIPT = "heap_growth.py"
# Four times as many as four debug registers are to have; words that are armed when these are used up are met once more.
STOPS_MAX = 160 + 4


def marked_lines(mark="the line"):
    """By the function: its line that inserts, or makes what is kept."""
    lines = {}
    with open(os.path.join(TARGETS, SCRIPT)) as file:
        for number, line in enumerate(file, 1):
            if line.startswith("def "):
                function = line[4:line.index("(")]
            if line.rstrip().endswith("# " + mark):
                lines[function] = number
    return lines


def heap_of(daemon):
    return json.loads(daemon.finish().stdout)["heap"]


def end(target, number=signal.SIGTERM):
    target.process.send_signal(number)
    output, _ = target.process.communicate(timeout=60)
    check_equal(target.process.returncode, 0, "the target's exit code; it said %r" % output)
    check(output.startswith("ok "), "the target said %r" % output)


@contextlib.contextmanager
def targets_of(many):
    """Of (interpreter, arguments): all of them, running; each ends as it should."""
    targets = []
    try:
        for interpreter, arguments in many:
            targets.append(Target(interpreter, SCRIPT, *arguments))
        yield targets
        for target in targets:
            target.check_undisturbed()
            end(target)
    finally:
        for target in targets:
            target.process.kill()
            target.process.wait()


def look_long(targets, is_enough, *arguments):
    """At all of them at once, for longer until it is enough: the reports."""
    for seconds in SECONDS:
        daemons = [Daemon("heap", target.pid, "-d", seconds, "--format", "json", *arguments) for target in targets]
        heaps = [heap_of(daemon) for daemon in daemons]
        if all(is_enough(heap) for heap in heaps):
            break
    return heaps


def is_told(heap):
    return heap["verdict"]["looks"] >= 7


def words_of(path):
    return "".join(step["step"] for step in path)


def check_path(heap, words, name):
    """The path's last steps depend on how the version has attributes."""
    path = heap["verdict"]["path"]
    check_equal((words_of(path), path[-1]["type"]), (words, name), "path of the verdict")


def check_shape(heap):
    verdict = heap["verdict"]
    check(len(heap["looks"]) == verdict["looks"] <= 48, "%d looks" % verdict["looks"])
    check(0 <= verdict["share_of_growth"] <= 1, "share %r" % verdict["share_of_growth"])
    for grower in heap["growing"]:
        check_equal(grower["lengths"][-1], grower["length"], "the last length")
        check(grower["lengths"][-1] > grower["lengths"][0], "lengths %s" % grower["lengths"])
    # Both by the same clock; what is held is part of what is in RAM.
    for look in heap["looks"]:
        parts = look["held_bytes"] + look["garbage_bytes"] + look["native_bytes"] + look["free_bytes"]
        check(parts <= look["rss_bytes"], "parts of %s" % look)


def test_verdicts(one_interpreter):
    """What the target does with its requests, told from outside."""
    kinds = sorted(VERDICTS)
    with targets_of([(one_interpreter, (kind,)) for kind in kinds]) as targets:
        heaps = dict(zip(kinds, look_long(targets, is_told, "--no-watch")))
    for kind, heap in heaps.items():
        check_shape(heap)
        check_equal((heap["watch"]["state"], heap["watch"]["stops"]), ("unwanted", 0), "the watch of %s" % kind)
        check_sampled(heap["verdict"]["kind"] == VERDICTS[kind], "%s: %s" % (kind, heap["verdict"]))
    check_path(heaps["keep"], "__main__.cache", "dict")
    check_path(heaps["link"], "__main__.sessions.next", "__main__.Node")
    # 2,000 requests a second, each with an order of three lines.
    per_s = {entry["type"]: entry["per_s"] for entry in heaps["keep"]["types"]}
    requests = heaps["keep"]["growing"][0]["per_s"]
    check(0.9 < per_s["__main__.Order"] / requests < 1.1, "orders %r, requests %r" % (per_s["__main__.Order"], requests))
    check(heaps["keep"]["verdict"]["share_of_growth"] > 0.6, "share %s" % heaps["keep"]["verdict"])
    check(not heaps["refresh"]["growing"], "what is full grows: %s" % heaps["refresh"]["growing"])


def test_lines_of_all_versions():
    """Which line inserts: by a stop or two, in each version at once."""
    lines = marked_lines()
    kinds = sorted(lines)
    interpreters = [interpreter for interpreter in find_interpreters() if not interpreter.in_root]
    many = [(interpreter, (kinds[number % len(kinds)], "--rate", 500)) for number, interpreter in enumerate(interpreters)]
    with targets_of(many) as targets:
        heaps = look_long(targets, lambda heap: is_told(heap) and heap["growing"] and heap["growing"][0]["insertions"])
    for (interpreter, (kind, _, _)), heap in zip(many, heaps):
        what = "%s of %s" % (kind, interpreter.path)
        check_sampled(heap["verdict"]["kind"] == "leak" and heap["watch"]["state"] == "done",
                      "%s: %s, %s" % (what, heap["verdict"], heap["watch"]))
        grower = heap["growing"][0]
        check_sampled(grower["insertions"] > 0, "%s: no insertion seen: %s" % (what, grower))
        check(grower["insertions"] <= 10 and heap["watch"]["stops"] <= STOPS_MAX, "%s: %s" % (what, heap["watch"]))
        found = [(line["function"], line["line"], line["grown"]) for line in grower["lines"]]
        if kind != "ask":
            check_equal(found, [(kind, lines[kind], grower["insertions"])], "lines of %s" % what)
        else:
            # A cache in C inserts for whoever asks.
            check_equal([place[0] for place in found], ["ask"], "lines of %s" % what)
        check_equal([caller["function"] for caller in grower["lines"][0]["callers"]][:2], ["handle", "serve"], "callers")


def test_lines_that_make(one_interpreter):
    """Of what is in no container: where objects of the class are made, by what is put into fresh blocks."""
    lines = marked_lines("made")
    kinds = sorted(lines)
    with targets_of([(one_interpreter, (kind, "--rate", 500)) for kind in kinds]) as targets:
        heaps = look_long(targets, lambda heap: is_told(heap) and any(made["seen"] for made in heap["made"]))
    for kind, heap in zip(kinds, heaps):
        check_sampled(heap["made"] and heap["made"][0]["seen"], "%s: %s of %s" % (kind, heap["made"], heap["verdict"]))
        made = heap["made"][0]
        check(made["type"] == "tuple" if kind == "note" else made["type"] in ("__main__.Order", "__main__.Node", "__main__.Circle"),
              "%s: %s" % (kind, made))
        check(made["seen"] <= 10 and heap["watch"]["stops"] <= STOPS_MAX, "%s: %s" % (made, heap["watch"]))
        # An object is made where its class is called: of an Order in a Circle, in the Circle's own function.
        places = {(line["function"].rpartition(".")[2], line["line"]) for line in made["lines"]}
        places |= {(caller["function"], caller["line"]) for line in made["lines"] for caller in line["callers"]}
        check((kind, lines[kind]) in places, "%s: %s" % (kind, made))
        check(any(sentence.startswith("made at ") for sentence in heap["verdict"]["sentences"]), heap["verdict"])


def test_lines_that_allocate(one_interpreter):
    """Of memory of C: which line's blocks stay, and not that of those which are freed at once."""
    if os.geteuid() != 0:
        raise Skip("needs root for programs in the kernel")
    line = marked_lines("allocated")["allocate"]
    with targets_of([(one_interpreter, ("allocate", "--rate", 500))]) as (target,):
        heap, = look_long([target], lambda heap: heap["stays"]["lines"], "--allocations")
    stays = heap["stays"]
    check_sampled(stays["state"] == "done" and not stays["doubt"], "%s of %s" % (stays, heap["verdict"]))
    first = stays["lines"][0]
    check_equal((first["function"], first["line"]), ("allocate", line), "what stays: %s" % stays)
    check_equal([caller["function"] for caller in first["callers"]][:2], ["handle", "serve"], "callers")
    check_sampled(first["unheld"] > 0.9 * first["made"] and stays["unheld"] < 0.8 * stays["made"], "%s" % stays)
    check(any(sentence.startswith("allocated at ") for sentence in heap["verdict"]["sentences"]), heap["verdict"])


def test_lines_that_fill(one_interpreter):
    """Of memory of C, without probes: who writes last where the heap grows, and not who writes there for a moment."""
    with targets_of([(one_interpreter, ("allocate", "--rate", 500))]) as (target,):
        heap, = look_long([target], lambda heap: heap["filled"])
    filled = heap["filled"]
    check_sampled(heap["verdict"]["kind"] == "native" and filled, "%s, %s" % (heap["verdict"], heap["watch"]))
    check(3 <= filled["stayed"] <= filled["tried"] <= 40 and heap["watch"]["stops"] <= STOPS_MAX, "%s, %s" % (filled, heap["watch"]))
    first = max(filled["lines"], key=lambda line: line["grown"])
    check_equal(first["function"], "allocate", "who fills: %s" % filled)
    check_equal([caller["function"] for caller in first["callers"]][:2], ["handle", "serve"], "callers")
    check(any(sentence.startswith("filled at ") for sentence in heap["verdict"]["sentences"]), heap["verdict"])


def test_words_of_growth(one_interpreter):
    """A screen, an early end, refusals."""
    with targets_of([(one_interpreter, ("append",))]) as (target,):
        other = Daemon("record", target.pid, "-d", 0, "-q", "--engine", "ptrace")
        wait_until(lambda: status_of(target.pid)["TracerPid"] != "0", what="the other tracer")
        heap, = look_long([target], is_told)
        other.signal(signal.SIGINT)
        other.finish()
        check_sampled(heap["verdict"]["kind"] == "leak", "%s" % heap["verdict"])
        check_equal(heap["watch"]["state"], "refused", "the watch")
        check(any(heap["watch"]["refusal"] in sentence for sentence in heap["verdict"]["sentences"]), heap["verdict"])
        for seconds in SECONDS:
            daemon = Daemon("heap", target.pid, "-d", 0, "--interval", 0.1)
            time.sleep(seconds / 3)
            daemon.signal(signal.SIGINT)
            text = daemon.finish().stdout
            if "GROWING" in text:
                break
        for words in ("VERDICT  ", "GROWING", "GROWTH BY HOLDER", "GROWTH BY TYPE", "__main__.registry (list)"):
            check_sampled(words in text, "%s is not in\n%s" % (words, text))
        heap = json.loads(pieprofd("heap", target.pid, "-d", 0.3, "--interval", 0.2, "--format", "json").stdout)["heap"]
        check_equal(heap["verdict"]["kind"], "too_few_looks", "the verdict of few looks")
    run = pieprofd("heap", 1, "--interval", 2, code=2)
    check("--interval goes with -d" in run.stderr, run.stderr)


def test_ends_meanwhile(one_interpreter):
    """The daemon, in the middle of a watch, and the target, in the middle of the looks."""
    with targets_of([(one_interpreter, ("keep", "--rate", 300))]) as (target,):
        # With next to nothing allowed it is not over soon.
        daemon = Daemon("heap", target.pid, "-d", 0, "--interval", 0.2, "--max-overhead", "0.1%")
        wait_until(lambda: status_of(target.pid)["TracerPid"] != "0", seconds=60, what="a watch", interval=0.002)
        daemon.signal(signal.SIGKILL)
        daemon.process.wait()
        wait_until(lambda: status_of(target.pid)["TracerPid"] == "0", what="the target to be let go")
        daemon = Daemon("heap", target.pid, "-d", 60, "--interval", 0.1, "--no-watch")
        time.sleep(1)
        check_equal(daemon.process.poll(), None, "the daemon's exit code")
        other = Target(one_interpreter, SCRIPT, "keep")
        gone = Daemon("heap", other.pid, "-d", 60, "--interval", 0.1, "--format", "json")
        time.sleep(1.5)
        end(other)
        heap = heap_of(gone)
        check("the process has ended meanwhile" in heap["verdict"]["sentences"], "%s" % heap["verdict"])
        daemon.signal(signal.SIGTERM)
        daemon.finish()


@contextlib.contextmanager
def limited_memory(limit):
    """A cgroup whose processes get so much memory; moves a process into it."""
    for base, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = os.path.join(base, "pieprofd-test-%d" % os.getpid())
        with contextlib.suppress(OSError):
            os.mkdir(folder)
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(str(limit))
                break
            except OSError:
                os.rmdir(folder)
    else:
        raise Skip("needs root that may make a cgroup with a limit of memory")

    def enter(pid):
        with open(os.path.join(folder, "cgroup.procs"), "w") as file:
            file.write(str(pid))

    try:
        yield enter
    finally:
        # What was killed in it may not be gone yet.
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
                break
            time.sleep(0.02)


def test_limit_of_memory(one_interpreter):
    """How long it takes to the limit, and how often that was reached."""
    limit = 300 << 20
    with limited_memory(limit) as enter, targets_of([(one_interpreter, ("keep", "--rate", 4000))]) as (target,):
        enter(target.pid)
        heap, = look_long([target], is_told, "--no-watch")
        victim = subprocess.Popen([one_interpreter.path, "-c", "import sys; sys.stdin.read(1); x = bytearray(1 << 30); x[:] = b'1' * len(x)"],
                                  stdin=subprocess.PIPE)
        enter(victim.pid)
        with open("/proc/%d/oom_score_adj" % victim.pid, "w") as file:
            file.write("1000")
        victim.communicate(b"x")
        check_equal(victim.returncode, -signal.SIGKILL, "how the other one ended")
        after = json.loads(pieprofd("heap", target.pid, "-d", 0.2, "--format", "json").stdout)["heap"]
    check_equal((heap["limit"]["limit_bytes"], heap["limit"]["oom_kills"]), (limit, 0), "the limit")
    check(0 < heap["limit"]["used_bytes"] < limit, "%s" % heap["limit"])
    left = (limit - heap["limit"]["used_bytes"]) / heap["verdict"]["rss_bytes_per_s"]
    check(abs(heap["limit"]["seconds_left"] - left) < 0.01 * left, "%s, %s" % (heap["limit"], heap["verdict"]))
    check_sampled(any("the limit is reached" in sentence for sentence in heap["verdict"]["sentences"]), "%s" % heap["verdict"])
    check_equal(after["limit"]["oom_kills"], 1, "OOM kills")
    check(any("1 OOM kill in" in sentence for sentence in after["verdict"]["sentences"]), "%s" % after["verdict"])


# 2 MB more 30 times a second, up to 120 MB.
FILLING = "import time; held = [time.sleep(0.03) or bytearray(2 << 20) for _ in range(60)]; time.sleep(60)"


def test_from_a_level(one_interpreter):
    """--at: a process that starts later, looked at when its group's memory is half used, and one by its own."""
    mark = "level-%d" % os.getpid()
    limit = 160 << 20
    filling = [one_interpreter.path, "-c", FILLING, mark]
    with limited_memory(limit) as enter:
        daemon = Daemon("heap", "--name", mark, "--wait", "--at", "50%", "--format", "json")
        with subprocess.Popen(filling, preexec_fn=lambda: enter(os.getpid())) as process:
            try:
                heap = json.loads(daemon.finish().stdout)["heap"]
                check("looking at process %d: " % process.pid in daemon.stderr, daemon.stderr)
                run = pieprofd("heap", process.pid, "--at", "20M", "-q", "--format", "json", "-o", "-")
                check(json.loads(run.stdout)["heap"]["regions"]["rss_bytes"] > 20 << 20, run.stderr)
                check_equal(status_of(process.pid)["TracerPid"], "0", "TracerPid")
            finally:
                process.kill()
    check(0.4 * limit < heap["regions"]["rss_bytes"] < limit, "%s" % heap["regions"])
    # It ends before.
    with subprocess.Popen([one_interpreter.path, "-c", "import time; time.sleep(1)"]) as process:
        gone = pieprofd("heap", process.pid, "--at", "10G", code=3)
    check("ended before it had so much memory" in gone.stderr, gone.stderr)
