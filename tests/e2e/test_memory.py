# SPDX-License-Identifier: Apache-2.0
"""Memory: the lines that make it grow, by samples of page faults, and what is resident over time."""
import json
import os
import signal
import subprocess
import tempfile
import time

from harness import (Daemon, Skip, Target, alone, check, check_equal, check_sampled, find_interpreters, pieprofd, profile,
                     wait_until)

# So that each line has some hundred samples.
MANY_FAULTS = ("--max-overhead", 20)
# From a daemon's events until it samples; of a profile with allocations. More on a machine that is emulated.
SETTLE_SECONDS, ALLOCATING_SECONDS = 0.3, 2
FUNCTIONS = ("arrays", "dicts", "block", "zeros")


def watched(daemon):
    """Are its events there?"""
    folder = "/proc/%d/fd" % daemon.process.pid
    links = []
    for name in os.listdir(folder):
        try:
            links.append(os.readlink(os.path.join(folder, name)))
        except FileNotFoundError:
            pass
    return any("perf_event" in link for link in links)


def grow(interpreter, *arguments):
    """A profile of all that the target does: the report, what the target says, the summary, the folder's other files."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path, kept = os.path.join(folder, "x.json"), os.path.join(folder, "x.pieprof")
        page = os.path.join(folder, "x.html")
        with Target(interpreter, "memory_growth.py", stdin=subprocess.PIPE) as target:
            with Daemon("--pid", target.pid, "-d", 0, "--details", "--memory", "-o", path, "-o", kept, "-o", page,
                        *MANY_FAULTS, *arguments) as daemon:
                wait_until(lambda: watched(daemon), what="events")
                time.sleep(SETTLE_SECONDS)
                target.process.stdin.write("go\n")
                target.process.stdin.flush()
                words = target.process.stdout.readline().split()
                daemon.signal(signal.SIGINT)
                daemon.finish()
            target.finish()
        again = os.path.join(folder, "again.json")
        pieprofd("report", kept, kept, "-o", os.path.join(folder, "both.json"), "-q")
        pieprofd("report", kept, "-o", again, "-q")
        texts = []
        for name in (path, again, page, os.path.join(folder, "both.json")):
            with open(name) as file:
                texts.append(file.read())
    check_equal(words[:1], ["grown"], "what the target says")
    check_equal(texts[1], texts[0], "the report of the recording")
    truth = {name: int(number) for name, number in (word.split("=") for word in words[1:])}
    return json.loads(texts[0]), truth, daemon.stdout, texts[2], json.loads(texts[3])


def of_functions(report):
    found = {name: {"bytes": 0, "python_bytes": 0, "native_bytes": 0, "samples": 0} for name in FUNCTIONS}
    for line in report["memory"]["lines"]:
        name = "dicts" if line["function"] == "<listcomp>" else line["function"]
        for figure in found.get(name, ()):
            found[name][figure] += line[figure]
    return found


def check_sums(memory):
    for figure in ("bytes", "python_bytes", "native_bytes", "samples"):
        check_equal(sum(line[figure] for line in memory["lines"]), memory[figure], "%s of all lines" % figure)
    check_equal(memory["python_bytes"] + memory["native_bytes"], memory["bytes"], "bytes")
    times = [point["time_ns"] for point in memory["timeline"]]
    check(2 <= len(times) <= 200 and times == sorted(times), "times: %s" % times)
    check_equal(memory["timeline"][0]["bytes"], memory["start_bytes"], "the first point")
    check_equal(memory["timeline"][-1]["bytes"], memory["end_bytes"], "the last point")
    check(all(point["bytes"] <= memory["peak_bytes"] for point in memory["timeline"]), "the peak: %s" % memory)


@alone
def test_growth(some_interpreter):
    if os.geteuid() != 0:
        raise Skip("needs root for samples of page faults in the kernel")
    report, truth, text, page, both = grow(some_interpreter, "--mode", "time")
    memory, found = report["memory"], of_functions(report)
    check_equal(report["sampler"], "kernel", "the sampler")
    check_sums(memory)
    growth, expected = memory["end_bytes"] - memory["start_bytes"], sum(truth.values())
    check(abs(growth - expected) < 0.1 * expected, "it grew by %d, says itself %d" % (growth, expected))
    for name, figures in found.items():
        check_sampled(abs(figures["bytes"] - truth[name]) < 0.1 * truth[name] + (2 << 20),
                      "%s: %s, grew by %d" % (name, figures, truth[name]))
    check_sampled(found["arrays"]["native_bytes"] > 0.9 * found["arrays"]["bytes"], "arrays: %s" % found)
    for name in ("dicts", "block", "zeros"):
        check_sampled(found[name]["python_bytes"] > 0.9 * found[name]["bytes"], "%s: %s" % (name, found))
    check_equal(memory["quality"]["kernel_faults_seen"], True, "faults in the kernel")
    growers = [thread for thread in report["threads"] if thread["fresh_python_bytes"] > truth["block"] // 60]
    check(len(growers) > 10, "threads that touched memory: %s" % growers)
    check("MEMORY  resident" in text and "fresh" in text and "memory_growth.py" in text, "no memory in %s" % text)
    check('id="memory"' in page and "<polygon" in page, "the page has no memory")
    for figure in ("bytes", "samples"):
        check_equal(both["memory"][figure], 2 * memory[figure], "%s of two recordings" % figure)
    check_equal(both["memory"]["peak_bytes"] >= memory["peak_bytes"], True, "the peak of both")


@alone
def test_growth_by_stops(one_interpreter):
    report, truth, _, _, _ = grow(one_interpreter, "--mode", "time", "--engine", "ptrace")
    memory, found = report["memory"], of_functions(report)
    check_equal(report["sampler"], "clock", "the sampler")
    check_sums(memory)
    # By some thirty samples, none of what read(2) touches; one taken late stands for what others did before it.
    seen, expected = (sum(bytes_of(name) for name in ("arrays", "dicts"))
                      for bytes_of in (lambda name: found[name]["bytes"], truth.get))
    check_sampled(abs(seen - expected) < 0.35 * expected, "%s, grew by %d" % (found, expected))
    for name in ("arrays", "dicts"):
        check_sampled(found[name]["bytes"] > 0.2 * truth[name], "%s: %s, grew by %d" % (name, found, truth[name]))
    check_sampled(found["arrays"]["native_bytes"] > 0.9 * found["arrays"]["bytes"], "arrays: %s" % found)
    check_equal(memory["quality"]["kernel_faults_seen"], False, "faults in the kernel")
    check(found["zeros"]["bytes"] < 0.5 * truth["zeros"], "zeros: %s" % found)
    check(memory["quality"]["faults"] - memory["quality"]["faults_sampled"] > 0.5 * truth["zeros"] / 4096,
          "faults in the kernel are not counted: %s" % memory["quality"])


def test_nothing_grows():
    with Target(find_interpreters()[0], "memory_growth.py", "--stay", 4) as target:
        report, text = profile(target.pid, "-d", 2, "--memory")
        plain, plain_text = profile(target.pid, "-d", 0.5, "--mode", "time")
        target.finish()
    memory = report["memory"]
    check(memory["bytes"] < 2 << 20, "memory where nothing grew: %s" % memory)
    check("MEMORY" in text, "no memory in %s" % text)
    check("memory" not in plain and "fresh_python_bytes" not in plain["lines"][0], "memory that nobody asked for")
    check("MEMORY" not in plain_text, "memory that nobody asked for: %s" % plain_text)


def test_copies(one_interpreter):
    """Time in copying is where the copies are, and the bytes are about what the target counted itself."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path, kept, page = (os.path.join(folder, "x." + ending) for ending in ("json", "pieprof", "html"))
        with Target(one_interpreter, "copies.py", 3, stdin=subprocess.PIPE) as target:
            with Daemon("--pid", target.pid, "-d", 0, "--mode", "time", "--memory", "--details", "-o", path, "-o", kept,
                        "-o", page) as daemon:
                words = target.process.stdout.readline().split()
                daemon.signal(signal.SIGINT)
                daemon.finish()
            target.finish()
        again = os.path.join(folder, "again.json")
        pieprofd("report", kept, "-o", again, "-q")
        with open(path) as file, open(again) as second:
            report = json.load(file)
            check_equal(json.load(second), report, "the report of the recording")
        with open(page) as file:
            check('id="copy-lines"' in file.read(), "the page has no copies")
    check_equal(words[:1], ["copied"], "what the target says")
    truth = {name: int(number) for name, number in (word.split("=") for word in words[1:])}
    copies, cpu_ns = report["memory"]["copies"], sum(report["time_ns"].values())
    found = {name: [0, 0, 0] for name in truth}
    for line in copies["lines"]:
        for i, figure in enumerate(("copying_ns", "copied_low_bytes", "copied_high_bytes")):
            found.get(line["function"], [0, 0, 0])[i] += line[figure]
    for figure in ("copying_ns", "copied_low_bytes", "copied_high_bytes"):
        check_equal(sum(line[figure] for line in copies["lines"]), copies[figure], "%s of all lines" % figure)
        check_equal(sum(line[figure] for line in report["lines"]), copies[figure], "%s in the lines" % figure)
    check_sampled(copies["copying_ns"] > 0.5 * cpu_ns, "%s of %d ns" % (copies, cpu_ns))
    check_equal(found["without"], [0, 0, 0], "copies of a line that has none")
    # The machine is shared: its rates of now may not be those of then. The others have few samples.
    for name in ("same_piece", "walked", "at_once", "grown"):
        low, high = found[name][1:]
        check_sampled(low / 2.5 < truth[name] < high * 2.5, "%s: %s, copied %d" % (name, found[name], truth[name]))
    check("COPIES  " in daemon.stdout and "copies.py" in daemon.stdout.partition("COPIES")[2], daemon.stdout)


def allocate(interpreter, *arguments):
    """A profile with allocations: the report, bytes a second of each function as the target says, the summary."""
    if os.geteuid() != 0:
        raise Skip("needs root for programs in the kernel")
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path, kept, page, again = (os.path.join(folder, name) for name in ("x.json", "x.pieprof", "x.html", "again.json"))
        with Target(interpreter, "allocations.py", 0, stdin=subprocess.PIPE) as target:
            run = pieprofd("--pid", target.pid, "-d", ALLOCATING_SECONDS, "--mode", "time", "--allocations", "--details",
                           "--lines", 30,
                           "-o", path, "-o", kept, "-o", page, *arguments)
            target.process.stdin.write("end\n")
            target.process.stdin.flush()
            words = target.process.stdout.readline().split()
            target.finish()
        pieprofd("report", kept, "-o", again, "-q")
        with open(path) as file, open(again) as second, open(page) as html:
            report = json.load(file)
            check_equal(json.load(second), report, "the report of the recording")
            check('id="allocation-lines"' in html.read(), "the page has no allocations")
    check_equal(words[:1], ["made"], "what the target says")
    truth = {name: int(figures.split(",")[0]) / float(words[1])
             for name, figures in (word.split("=") for word in words[2:])}
    return report, truth, run.stdout


def test_allocations(some_interpreter):
    """What lines allocate a second is what the target counts; what is temporary is told from what stays for a while."""
    report, truth, text = allocate(some_interpreter, "--max-overhead", 20)
    seen = report["memory"]["allocations"]
    found = {}
    for line in seen["lines"]:
        of = found.setdefault(line["function"], {"allocated_bytes": 0, "temporary_bytes": 0, "allocation_samples": 0})
        for figure in of:
            of[figure] += line[figure]
    for figure in ("allocated_bytes", "temporary_bytes", "allocated_objects", "allocation_samples"):
        check_equal(sum(line[figure] for line in seen["lines"]), seen[figure], "%s of all lines" % figure)
        check_equal(sum(line.get(figure, 0) for line in report["lines"]), seen[figure], "%s in the lines" % figure)
    check(seen["windows"] >= 5 and seen["malloc_seen"] and not seen["windows_refused"], "windows: %s" % seen)
    names = ["blocks", "held"] + (["small"] if seen["small_objects"] == "seen" else [])
    for name in names:
        rate = found[name]["allocated_bytes"] * 1e9 / seen["observed_ns"]
        # On a busy machine probes cost what they did not when that was measured, and the target waits for processors.
        check_sampled(truth[name] / 5 < rate < truth[name] * 5, "%s: %d a second, says itself %d" % (name, rate, truth[name]))
    parts = [of["blocks"] / of["held"] for of in (truth, {name: found[name]["allocated_bytes"] for name in names})]
    check_sampled(parts[0] / 2 < parts[1] < parts[0] * 2, "blocks for one of held: %.2f, says itself %.2f" % (parts[1], parts[0]))
    check_sampled(found["blocks"]["temporary_bytes"] > 0.9 * found["blocks"]["allocated_bytes"], "temporary: %s" % found)
    check("without" not in found or found["without"]["allocated_bytes"] < 0.05 * seen["allocated_bytes"], "%s" % found)
    check("ALLOCATED  " in text and "allocations.py" in text.partition("ALLOCATED")[2], text)
    check(("built with its allocator inside" in " ".join(text.split())) == (seen["small_objects"] == "inlined"), text)


def code_of_library(pid, name):
    """The code of a library as the process has it, and the same out of the file."""
    with open("/proc/%d/maps" % pid) as maps:
        fields = next(line.split() for line in maps if " r-xp " in line and "/" + name in line)
    start, end = (int(word, 16) for word in fields[0].split("-"))
    with open("/proc/%d/mem" % pid, "rb", 0) as memory, open("/proc/%d/root%s" % (pid, fields[5]), "rb") as file:
        memory.seek(start)
        file.seek(int(fields[2], 16))
        return memory.read(end - start), file.read(end - start)


def test_killed_in_a_window(one_interpreter):
    """Killed while its probes are there: the kernel takes them out, and the target goes on."""
    if os.geteuid() != 0:
        raise Skip("needs root for programs in the kernel")
    with Target(one_interpreter, "allocations.py", 0, stdin=subprocess.PIPE) as target:
        def probed():
            code, file = code_of_library(target.pid, "libc.so.6")
            return code != file

        check(not probed(), "code that was changed before")
        with Daemon("--pid", target.pid, "-d", 0, "--mode", "time", "--allocations", "--max-overhead", 90) as daemon:
            wait_until(probed, what="probes")
            daemon.process.kill()
            daemon.process.wait()
        wait_until(lambda: not probed(), what="code as it was before")
        target.process.stdin.write("end\n")
        target.process.stdin.flush()
        check_equal(target.process.stdout.readline().split()[:1], ["made"], "what the target says")
        target.finish()
