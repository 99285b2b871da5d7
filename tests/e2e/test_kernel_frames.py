# SPDX-License-Identifier: Apache-2.0
"""Where in the kernel a line's time is spent: the right call, the right functions, and no address."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from boundaries import forms
from harness import (PIEPROFD, Skip, Target, check, check_equal, check_sampled, default_interpreter, line_text, pieprofd,
                     profile)
from test_formats import Profile
from test_kernel_engine import KERNEL, root_only

# What the lines of the target are named for, what of the kernel must be there, and what may run where. Names that
# kernels have had since 5.17, the first that runs the program.
EXPECTED = {
    "getrandom": (r"__x64_sys_getrandom$", r"chacha"),
    "read": (r"vfs_read$|ksys_read$", r"read_(iter_)?zero|iov_iter_zero|clear_user|rep_stos"),
    "write": (r"vfs_write$|ksys_write$", r"copy|write|folio|page|clear|iov|grab"),
    "none": (r"exc_page_fault$", r"page|folio|fault|mem|alloc|clear"),
}
# An address of the kernel's, in hexadecimal or as a number.
ADDRESS = re.compile(rb"ffff[0-9a-f]{12}|\b184467[0-9]{14}\b", re.IGNORECASE)


def written_in_all(pid, *arguments):
    """What is in the files, by the names of the formats."""
    contents = {}
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        more = {name: os.path.join(folder, "p." + extension) for name, extension in (
            ("text", "txt"), ("html", "html"), ("recording", "pieprof"))}
        outputs = [argument for path in more.values() for argument in ("-o", path)]
        with Profile(pid, "--details", *outputs, *arguments) as written:
            for name, path in (written.paths | more).items():
                with open(path, "rb") as file:
                    contents[name] = file.read()
    return contents


def by_call(report):
    """Of each line of the target that says what it is for, all rows."""
    rows = {}
    for row in report["kernel"]:
        kind = row["line"] and line_text(row).partition("# call: ")[2]
        if kind:
            rows.setdefault(kind, []).append(row)
    return rows


def check_calls(report, stacks):
    rows = by_call(report)
    for kind, (entry, runs) in EXPECTED.items():
        mine = rows.get(kind, [])
        system = sum(row["system_ns"] for row in mine)
        check_sampled(system > 0.05 * report["cpu_ns"], "%s: %d of %d ns" % (kind, system, report["cpu_ns"]))
        called = sum(row["system_ns"] for row in mine if row["call"] == (None if kind == "none" else kind))
        right = sum(function["system_ns"] for row in mine for function in row["functions"]
                    if re.search(runs, function["function"]))
        line = max(mine, key=lambda row: row["system_ns"])
        name = "%s:%d)" % (line["file"], line["line"])
        passed = [any(re.search(entry, frame.removesuffix("_[k]")) for frame in stack if frame.endswith("_[k]"))
                  for stack in stacks if any(frame.endswith(name) for frame in stack) and stack[-1].endswith("_[k]")]
        print("  %-9s %4.1f%% of the CPU time; so called %.0f%%, by such functions %.0f%%; %d of %d stacks" % (
            kind, 100 * system / report["cpu_ns"], 100 * called / system, 100 * right / system, sum(passed), len(passed)))
        # The rest is of interrupts, and of the way out of the kernel.
        check_sampled(called > 0.8 * system, "%s: %s" % (kind, [(row["entry"], row["system_ns"]) for row in mine]))
        check_sampled(right > 0.3 * system, "%s: %s" % (kind, [row["functions"] for row in mine]))
        check_sampled(passed and sum(passed) > 0.5 * len(passed), "%s: %s" % (kind, stacks))


def check_sums(report):
    """What the rows of a line say is the line's system time, but for samples of which it is not known where."""
    lines = {(line["file"], line["line"]): line["system_ns"] for line in report["lines"]}
    rows = {}
    for row in report["kernel"]:
        check_equal(sum(function["system_ns"] for function in row["functions"]), row["system_ns"], "sum of %s" % row)
        check_equal(sum(function["samples"] for function in row["functions"]), row["samples"], "samples of %s" % row)
        place = row["file"], row["line"]
        rows[place] = rows.get(place, 0) + row["system_ns"]
    for place, system in rows.items():
        check(not place[1] or system <= lines[place], "%s: %d of %d ns" % (place, system, lines[place]))
    check_sampled(sum(rows.values()) > 0.98 * report["time_ns"]["system"], "%d of %s" % (
        sum(rows.values()), report["time_ns"]))


def stacks_of(folded):
    return [line.rpartition(" ")[0].split(";") for line in folded.decode().splitlines()]


def test_functions():
    root_only()
    with Target(default_interpreter(), "kernel_calls.py") as target:
        files = written_in_all(target.pid, "-d", 3, "-r", 400, "--max-overhead", 20, *KERNEL)
        target.check_undisturbed()
    report, stacks = json.loads(files["json"]), stacks_of(files["collapsed"])
    check_equal(report["losses"].get("kernel_unnamed", 0), 0, "samples without names")
    check_calls(report, stacks)
    check_sums(report)
    check_sampled(not any(stack[-1] == "[system]" for stack in stacks), "system time without a place in the kernel")
    check(b"\nSYSTEM  " in files["text"] and b" getrandom " in files["text"], str(files["text"]))
    for name, content in files.items():
        content = b"\n".join(forms(content, 2))  # also what is packed in it
        found = ADDRESS.search(content)
        check(not found, "%s has %r" % (name, found and found[0]))
        if name in ("collapsed", "pprof", "speedscope", "firefox", "html", "recording"):
            check_sampled(b"vfs_read" in content, "%s without functions of the kernel" % name)


def test_beside_stops():
    """By default the kernel samples time while threads are stopped for evidence."""
    root_only()
    with Target(default_interpreter(), "kernel_calls.py") as target:
        report, text = profile(target.pid, "-d", 2)
    if report["sampler"] != "kernel":
        raise Skip("the processor samples memory accesses")
    check_sampled("getrandom" in by_call(report), "%s" % report["kernel"])
    check_sampled("SYSTEM  " in text, text)


def test_switched_off():
    root_only()
    with Target(default_interpreter(), "kernel_calls.py") as target:
        files = written_in_all(target.pid, "-d", 1, "--no-kernel-frames", *KERNEL)
    check_equal(json.loads(files["json"])["kernel"], [], "where in the kernel")
    check(b"_[k]" not in files["collapsed"], str(files["collapsed"]))
    check_sampled(b"[system]" in files["collapsed"], str(files["collapsed"]))
    check(b"where in the kernel is not known" in b" ".join(files["text"].split()), str(files["text"]))


def test_without_addresses():
    """Who may not see where the kernel lies in memory sees the names of its functions all the same."""
    root_only()
    if not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    without = ("setpriv", "--bounding-set=-syslog", "--inh-caps=-all")
    symbols = subprocess.run([*without, "head", "-n", "1", "/proc/kallsyms"], capture_output=True, text=True, check=True)
    if not symbols.stdout.startswith("0000000000000000 "):
        raise Skip("everybody may see addresses of the kernel here")
    with Target(default_interpreter(), "kernel_calls.py") as target:
        run = subprocess.run([*without, PIEPROFD, "--pid", str(target.pid), "-d", "1.5", "-r", "300",
                              "--max-overhead", "20", "--format", "json", *KERNEL],
                             capture_output=True, text=True, check=False)
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    report = json.loads(run.stdout)
    check_equal(report["losses"].get("kernel_unnamed", 0), 0, "samples without names")
    check_sampled(len(by_call(report)) == len(EXPECTED), "%s" % report["kernel"])
