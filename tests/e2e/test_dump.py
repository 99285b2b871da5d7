# SPDX-License-Identifier: Apache-2.0
"""`pieprofd dump`: what every thread does now."""
import collections
import contextlib
import json
import os
import shutil
import struct
import subprocess
import tempfile

from harness import (TARGETS, TARGETS_IN_ROOT, Skip, check, check_equal, find_interpreters, pieprofd, status_of,
                     take_breakpoints, wait_until)


def reads_input(pid):
    """Is the main thread asleep in read(2)?"""
    with open("/proc/%d/syscall" % pid) as file:
        return file.read().startswith("0 0x0 ")


@contextlib.contextmanager
def waiting_target(interpreter, script, *arguments):
    """A target that ends with its standard input: the process, and what it said before it was ready."""
    process = subprocess.Popen(interpreter.command(script, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, cwd=interpreter.folder(),
                               env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
                                        PIEPROFD_TEST_BIND="%s:%s" % (TARGETS, TARGETS_IN_ROOT),
                                        **interpreter.environment))
    try:
        said = []
        for line in process.stdout:
            if line == "ready\n":
                break
            said.append(line.rstrip("\n"))
        check(process.poll() is None, "%s did not start: %s" % (script, said))
        wait_until(lambda: reads_input(process.pid), what="the target to wait for its input")
        yield process, said
        check_equal(process.poll(), None, "the target's exit code")
        output, _ = process.communicate("", timeout=60)
        check_equal(process.returncode, 0, "the target's exit code in the end")
        check(output.startswith("ok "), "the target said %r" % output)
        process.last_words = output
    finally:
        process.kill()
        process.wait()


def dumped(pid, *arguments):
    return json.loads(pieprofd("dump", "--pid", pid, "--json", *arguments).stdout)


def source_lines(path, mark):
    with open(path) as file:
        return [number for number, line in enumerate(file, 1) if mark in line]


def innermost_python(thread):
    return [frame for frame in thread["frames"] if frame["kind"] == "python"][-1]


def switches(pid):
    """How often each thread went to sleep so far."""
    return {tid: status_of(pid, tid)["voluntary_ctxt_switches"] for tid in os.listdir("/proc/%d/task" % pid)}


def test_deadlock(interpreter):
    with waiting_target(interpreter, "deadlock.py") as (target, _):
        before = switches(target.pid)
        dump = dumped(target.pid)
        # Nobody was so much as woken up.
        check_equal(switches(target.pid), before, "times that threads went to sleep")
        text = pieprofd("dump", "--pid", target.pid).stdout
        python_only = dumped(target.pid, "--no-native")
    threads = {thread["name"]: thread for thread in dump["threads"]}
    check_equal(set(threads), {"MainThread", "take first then second", "take second then first", "sleep"}, "threads")
    for name, call in (("take first then second", "second.acquire()"), ("take second then first", "first.acquire()"),
                       ("sleep", "time.sleep(3600)"), ("MainThread", "sys.stdin.read()")):
        thread = threads[name]
        check_equal(thread["state"], "sleeping", "state of %s" % name)
        check_equal(thread["gil"], False, "GIL of %s" % name)
        frame = innermost_python(thread)
        check(frame["source"].startswith(call), "%s is at %r" % (name, frame))
        check(frame["source"] in text, "%r is not in the text" % frame["source"])
        check(any(frame["kind"] == "native" for frame in thread["frames"]), "%s has no native frame" % name)
    for thread in python_only["threads"]:
        check(thread["frames"], "no frames of %s" % thread["name"])
        check(all(frame["kind"] == "python" for frame in thread["frames"]), "native frames without being asked for")


def mark_of(frames):
    """The comment at the line of the only frame; None: there is no frame."""
    return frames[0]["source"].split("# ")[-1] if frames else None


# Of each thread: whether the lock is an RLock (None: it waits for another thread's end), where it waits, and where the
# next one of the circle has taken the lock.
CIRCLES = [
    {"lock\nof two forwards": (False, "waits for second", "takes second"),
     "lock\nof two backwards": (False, "waits for first", "takes first")},
    {"condition forwards": (False, "waits for second", "takes second"),
     "condition backwards": (True, "waits for first", "takes first")},
    {"RLock forwards": (True, "waits for an RLock", None), "RLock backwards": (True, "waits for an RLock", None)},
    {"again": (False, "waits for its own", "takes its own")},
    {"join outer": (None, "waits for an end", None), "join inner": (False, "waits for who joins", "takes and joins")},
]


def test_circles(interpreter):
    """Locks, RLocks, conditions, join(), a thread that waits for itself; no circle where there is none."""
    with waiting_target(interpreter, "circles.py") as (target, _):
        before = switches(target.pid)
        dump = dumped(target.pid, "--no-native")
        text = pieprofd("dump", "--pid", target.pid, "--no-native").stdout
        check_equal(switches(target.pid), before, "times that threads went to sleep")
    names = {thread["tid"]: thread["name"] for thread in dump["threads"]}
    found = []
    for circle in dump["deadlocks"]:
        found.append({names[wait["tid"]]: (wait["recursive"] if wait["lock"] else None, mark_of(wait["waits_at"]),
                                           mark_of(wait["held_at"])) for wait in circle})
        for number, wait in enumerate(circle):
            check_equal(wait["holder"], circle[(number + 1) % len(circle)]["tid"], "who has what is waited for")
    for circle in CIRCLES:
        check(circle in found, "%s not in %s" % (circle, found))
    check_equal(len(found), len(CIRCLES), "circles in %s" % found)
    check_equal(text.count("PROBABLE DEADLOCK"), len(CIRCLES), "circles in the text")
    check(text.index("PROBABLE DEADLOCK") < text.index("\nTHREAD "), "the deadlock is not said first")


def test_running_thread(one_interpreter):
    with waiting_target(one_interpreter, "deadlock.py", "--work") as (target, _):
        for _ in range(5):
            dump = dumped(target.pid)
            threads = {thread["name"]: thread for thread in dump["threads"]}
            check("work" in [frame["function"] for frame in threads["work"]["frames"]], "frames: %s" % threads["work"])
            check_equal(threads["work"]["state"], "running", "state of the working thread")
        check_equal(status_of(target.pid)["TracerPid"], "0", "TracerPid afterwards")
        for tid in os.listdir("/proc/%d/task" % target.pid):
            take_breakpoints(int(tid))


def test_start_frames(interpreter):
    """What lies outside of the outermost Python frame is the interpreter's own beginning, the same everywhere."""
    with waiting_target(interpreter, "deadlock.py") as (target, _):
        dump = dumped(target.pid)
        without = pieprofd("dump", "--pid", target.pid).stdout
        text = pieprofd("dump", "--pid", target.pid, "--start-frames").stdout
    for thread in dump["threads"]:
        count = thread["start_frames"]
        check(count > 2, "%s begins with %d frames" % (thread["name"], count))
        check_equal([frame["kind"] for frame in thread["frames"][count - 1:count + 1]], ["native", "python"], "kinds")
    check("_start" not in without and "_start" in text, "the first frame of all")
    check_equal(len(text.splitlines()) - len(without.splitlines()),
                sum(thread["start_frames"] for thread in dump["threads"]), "frames that are left out")


def test_start_frames_of_a_profile(one_interpreter):
    """Flame graphs begin with Python, and their sum is the same."""
    outermost = {}
    with waiting_target(one_interpreter, "deadlock.py", "--work") as (target, _):
        for options in ((), ("--start-frames",)):
            stacks = pieprofd("--pid", target.pid, "-d", 1, "--mode", "time", "-q", "--format", "collapsed", "-o", "-",
                              *options).stdout.splitlines()
            outermost[options] = collections.Counter()
            for line in stacks:
                frames, time = line.rsplit(" ", 1)
                if "work" in frames:
                    outermost[options][[part for part in frames.split(";")
                                        if "Thread" not in part and not part.startswith("[container ")][0]] += int(time)
    for options, counter in outermost.items():
        name, _ = counter.most_common(1)[0]
        # libc's functions have no names where its debug file is not installed.
        check_equal(any(word in name for word in ("start_thread", "clone", "(libc.so.6)")), bool(options),
                    "outermost %r of %s" % (name, counter))


def bias_of(pid, module):
    """Where the addresses of an ELF file begin in the process."""
    starts = []
    with open("/proc/%d/maps" % pid) as maps:
        for line in maps:
            words = line.split(None, 5)
            if len(words) == 6 and words[5].strip() == module:
                starts.append(int(words[0].split("-")[0], 16))
    with open("/proc/%d/root%s" % (pid, module), "rb") as file:
        kind = struct.unpack("<H", file.read(18)[16:])[0]
    return 0 if kind == 2 else min(starts)  # ET_EXEC


GDB_FRAMES = """
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            print("FRAME %d %x %s" % (thread.ptid[1], frame.pc(), frame.name()))
        frame = frame.older()
"""


def gdb_frames(pid):
    """Native frames of every thread as gdb has them: lists of (pc, name), innermost first."""
    if not shutil.which("gdb"):
        raise Skip("no gdb")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(GDB_FRAMES)
        script.flush()
        run = subprocess.run(["gdb", "-q", "-nx", "-batch", "-p", str(pid), "-x", script.name], capture_output=True,
                             text=True, check=False)
    threads = {}
    for line in run.stdout.splitlines():
        if line.startswith("FRAME "):
            _, tid, pc, name = line.split(" ", 3)
            threads.setdefault(int(tid), []).append((int(pc, 16), name))
    return threads


def test_order_is_gdbs(interpreter):
    """Every native frame at its address, and Python where gdb has the evaluation loop."""
    with waiting_target(interpreter, "mixed_stack.py") as (target, said):
        thread = next(thread for thread in dumped(target.pid)["threads"] if thread["name"] == "mixed")
        theirs = gdb_frames(target.pid).get(thread["tid"], [])
        libraries = {frame["library"] for frame in thread["frames"] if frame["kind"] == "native"}
        biases = {library: bias_of(target.pid, library) for library in libraries}
    # Python's own opinion of the Python frames.
    python = [frame for frame in thread["frames"] if frame["kind"] == "python"]
    seen = ["%s %d" % (frame["function"].split(".")[-1], frame["line"]) for frame in python]
    check_equal(seen, said, "Python frames")
    check(not any("guessed" in frame or "unmatched" in frame for frame in thread["frames"]), "guessed frames")
    ours, loops = [], []
    for frame in reversed(thread["frames"]):
        if frame["kind"] == "native":
            ours.append(biases[frame["library"]] + int(frame["address"], 16))
        elif not ours or ours[-1] != "python":
            ours.append("python")
    for pc, name in theirs:
        if name.startswith("_PyEval_EvalFrameDefault"):
            # Two loops side by side have no native frame between their Python ones.
            if not loops or loops[-1] != "python":
                loops.append("python")
        else:
            # Ours are inside of the calling instruction.
            loops.append(pc - 1 if loops else pc)
    check(len(theirs) > 30, "gdb has %d frames" % len(theirs))
    for number, (our, their) in enumerate(zip(ours, loops)):
        check(our == their, "frame %d of %d, of gdb's %d, from the innermost: %s, gdb has %s" % (
            number, len(ours), len(loops), our, their))
    check_equal(len(ours), len(loops), "number of frames")


def test_names_of_generated_code():
    """-X perf: a trampoline for each Python function, whose names are in a file of the target's."""
    for interpreter in find_interpreters():
        program = "import sys; print(sys.is_stack_trampoline_active())"
        run = subprocess.run([interpreter.path, "-X", "perf", "-c", program], capture_output=True, text=True,
                             check=False)
        if run.stdout.strip() == "True" and not interpreter.in_root:
            break
    else:
        raise Skip("no interpreter with -X perf")
    process = subprocess.Popen([interpreter.path, "-X", "perf"] + interpreter.command("mixed_stack.py")[1:],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if line == "ready\n":
                break
        wait_until(lambda: reads_input(process.pid), what="the target to wait for its input")
        thread = next(thread for thread in dumped(process.pid)["threads"] if thread["name"] == "mixed")
    finally:
        process.kill()
        process.communicate()
        with contextlib.suppress(FileNotFoundError):
            os.unlink("/tmp/perf-%d.map" % process.pid)
    check(not any("guessed" in frame or "unmatched" in frame for frame in thread["frames"]), "guessed frames")
    frames = thread["frames"]
    for number, frame in enumerate(frames):
        if frame["kind"] == "python" and frame["file"].endswith("mixed_stack.py"):
            name = frames[number - 1]["function"]
            check(name.startswith("py::%s:" % frame["function"]), "%s is called by %s" % (frame["function"], name))
