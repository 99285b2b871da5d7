# SPDX-License-Identifier: Apache-2.0
"""What is installed by pip: a `with` block, notebooks' cells, pytest's plugin. `make check-wheel` has the wheel itself."""
import glob
import html
import json
import os
import re
import shutil
import subprocess
import tempfile

from browser import Browser
from harness import (PIEPROFD, ROOT, Skip, check, check_equal, check_sampled, default_interpreter, find_interpreters, nobody,
                     with_packages)

PACKAGE = os.path.join(ROOT, ".packaging", "python")

BUSY = """
import time

def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(number * number for number in range(1000))  # the busy line
"""

# What it does in the block is what the profile shows, and nothing of it is left afterwards.
BLOCK = BUSY + """
import json, os, sys, pieprofd
with pieprofd.profile("--mode", "time", output="x.html") as profile:
    busy(1)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status"))
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    json.dump({"text": profile.text, "profile": json.loads(profile.report("json")), "tracer": int(status["TracerPid"])},
              sys.stdout)
"""


def python(interpreter, *arguments, **more):
    """A Python that finds the package and the program, when it has ended."""
    path = [PACKAGE] + list(filter(None, [interpreter.environment.get("PYTHONPATH")]))
    return subprocess.run(
        [interpreter.path, *arguments], capture_output=True, text=True, check=False,
        env=dict(os.environ, PYTHONPATH=":".join(path), PIEPROFD=PIEPROFD, PYTHONDONTWRITEBYTECODE="1"), **more)


def check_busy(profile):
    line = max(profile["lines"], key=lambda line: line["charged_ns"])
    check_sampled("# the busy line" in line["source"], "the line with most time: %s" % line)
    return line


def interpreters():
    """The default one, and the oldest that the package is for."""
    oldest = min((i for i in find_interpreters() if i.version >= (3, 8) and not i.in_root), key=lambda i: i.version)
    return {interpreter.name: interpreter for interpreter in (default_interpreter(), oldest)}.values()


def test_block():
    for interpreter in interpreters():
        with tempfile.TemporaryDirectory(prefix="pieprofd-block-") as folder:
            run = python(interpreter, "-c", BLOCK, cwd=folder)
            check_equal((run.returncode, run.stderr), (0, ""), "exit code and standard error of the block")
            check_equal(os.listdir(folder), ["x.html"], "files")
        found = json.loads(run.stdout)
        check_equal(found["tracer"], 0, "TracerPid afterwards")
        # The text is the first screen alone: the recording was ours.
        check("VERDICT" in found["text"] and "Wrote" not in found["text"], found["text"])
        # `-c`: the text is nobody's file.
        line = max(found["profile"]["lines"], key=lambda line: line["charged_ns"])
        check_sampled((line["function"], line["line"]) == ("busy", 7), "the line with most time: %s" % line)
        check("process_not_python" not in found["profile"]["losses"], "the program is not its own target's child")


def test_block_follows_children():
    """All that the process starts, but for the program itself."""
    run = python(default_interpreter(), "-c", BLOCK.replace('"--mode", "time"', '"--follow"').replace(
        "busy(1)", "busy(0.5)").replace(', output="x.html"', ""))
    check_equal((run.returncode, run.stderr), (0, ""), "exit code and standard error of the block")
    check("process_not_python" not in json.loads(run.stdout)["profile"]["losses"], "the program counts as a child")


def test_block_refused():
    """The program's own words; the block does not run, and who may trace us is as before."""
    program = """
import ctypes, os, pieprofd
for options in (["--bogus"], ["--format", "json"], ["--engine", "ptrace"]):
    try:
        with pieprofd.profile(*options):
            print("the block")
    except pieprofd.ProfileError as error:
        print(error.code, str(error).splitlines()[0])
print(os.path.exists(os.environ["TMPDIR"]) and os.listdir(os.environ["TMPDIR"]))
"""
    with tempfile.TemporaryDirectory(prefix="pieprofd-block-") as folder:
        os.mkdir(folder + "/tmp")
        calls = os.path.join(folder, "calls")
        interpreter = default_interpreter()
        run = subprocess.run(
            ["strace", "-o", calls, "-e", "trace=prctl,clone,clone3,fork,vfork", interpreter.path, "-c", program],
            capture_output=True, text=True, check=False,
            env=dict(os.environ, PYTHONPATH=PACKAGE, PIEPROFD=PIEPROFD, TMPDIR=folder + "/tmp"))
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        with open(calls, encoding="utf-8") as file:
            seen = re.findall(r"^(prctl\(PR_SET_PTRACER, \d+|\w*fork|clone3?)\b.*?(?:= (\d+))?$", file.read(), re.M)
    lines = run.stdout.splitlines()
    check(lines[0].startswith("2 ") and "--bogus" in lines[0], lines[0])
    check(lines[1].startswith("2 ") and "-o x.json" in lines[1], lines[1])
    # strace traces us already.
    check(lines[2].startswith("4 ") and "already traced" in lines[2] and "strace" in lines[2], lines[2])
    check_equal(lines[3:], ["[]"], "temporary files")
    # Permitted before there is a child that may attach, then the child alone, then nobody.
    check_equal(len(seen), 8, "calls: %s" % seen)
    for before, fork, child, after in (seen[:4], seen[4:]):
        check(before[0] != after[0] and "fork" in fork[0] or "clone" in fork[0], "calls: %s" % seen)
        check_equal(child[0], "prctl(PR_SET_PTRACER, " + fork[1], "who may trace us then")
        check_equal(after[0], "prctl(PR_SET_PTRACER, 0", "who may trace us in the end")


def test_block_of_an_ordinary_user():
    user = nobody()
    interpreter = next((i for i in find_interpreters() if i.path.startswith("/usr/")), None)
    if not interpreter:
        raise Skip("needs root and an interpreter which every user may start")
    with tempfile.TemporaryDirectory(prefix="pieprofd-block-") as folder:
        # As the wheel has it: the program beside the modules.
        shutil.copytree(PACKAGE + "/pieprofd", folder + "/pieprofd")
        shutil.copy(PIEPROFD, folder + "/pieprofd/pieprofd")
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        os.mkdir(folder + "/of-the-user")
        os.chown(folder + "/of-the-user", user, user)
        run = subprocess.run([interpreter.path, "-c", BLOCK], capture_output=True, text=True, check=False, user=user, group=user,
                             extra_groups=[], cwd=folder + "/of-the-user",
                             env={"PYTHONPATH": folder, "PATH": os.environ["PATH"], "TMPDIR": folder + "/of-the-user"})
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        check_equal(os.listdir(folder + "/of-the-user"), ["x.html"], "files")
    check_equal(json.loads(run.stdout)["tracer"], 0, "TracerPid afterwards")


def test_command():
    """`python -m pieprofd` becomes the program."""
    run = python(default_interpreter(), "-m", "pieprofd", "--version")
    check_equal((run.returncode, run.stdout), (0, subprocess.run([PIEPROFD, "--version"], capture_output=True, text=True,
                                                                 check=True).stdout), "--version")
    run = python(default_interpreter(), "-m", "pieprofd", "--bogus")
    check_equal(run.returncode, 2, "exit code of wrong usage")


CELLS = [
    "%load_ext pieprofd",
    "%%pieprofd --mode time" + BUSY + "busy(1)\n6 * 7",
    "%pieprofd --mode time -- busy(0.3)",
    "%%pieprofd\nbusy(0.3)\n1 / 0  # fails",
    "%pieprofd --bogus -- busy(0.3)",
    "%%pieprofd --mode time\npass",
]


def test_notebook():
    """In a real kernel: the profile, with lines as they are numbered in the cell; then the page in a browser."""
    interpreter = with_packages(default_interpreter(), "ipykernel")
    with tempfile.TemporaryDirectory(prefix="pieprofd-notebook-") as folder:
        run = python(interpreter, os.path.join(ROOT, "tests", "targets", "notebook_magic.py"), folder,
                     input=json.dumps(CELLS), cwd=folder)
        check_equal(run.returncode, 0, "exit code of the notebook, which said %r" % run.stderr)
        loaded, cell, line, failed, refused, idle = [json.loads(shown) for shown in run.stdout.splitlines()]
        check_equal((loaded["status"], loaded["text"]), ("ok", ""), "the extension")
        check(cell["status"] == "ok" and "VERDICT" in cell["text"] and cell["text"].endswith("42"), cell["text"])
        check_sampled("In [2]:7 " in cell["text"], "the busy line is In [2]:7: %s" % cell["text"])
        check("<pre>pieprofd " in cell["html"] and 'sandbox="allow-scripts"' in cell["html"], cell["html"][:400])
        check_equal(line["status"], "ok", "the line")
        check_sampled("In [2]:7 " in line["text"] and "# the busy line" in line["text"], "the line: %s" % line["text"])
        # What the cell did is shown, and cells behind it do not run.
        check_equal(failed["status"], "error", "the cell that fails")
        check("# fails" in failed["traceback"] and "VERDICT" in failed["text"], "%s" % failed)
        check_equal((refused["status"], refused["traceback"].splitlines()),
                    ("error", ["pieprofd: there is no option --bogus, or it is short for several; see pieprofd --help"]),
                    "what is refused")
        check_equal(idle["status"], "ok", "the cell that does nothing")
        check("no samples" in idle["text"] or "VERDICT" in idle["text"], "the cell that does nothing: %s" % idle["text"])
        check_frame(cell["html"], folder)


def check_frame(shown, folder):
    """The page works where it may nothing but run its scripts."""
    page = os.path.join(folder, "page.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html><meta charset=utf-8><title>notebook</title>" + shown)
    with Browser() as browser:
        browser.open(page)
        frame = browser.page.frame_locator("iframe")
        check("In [2]:7" in frame.locator("body").inner_text(), "the page in its frame")
        for tab in frame.locator("#tabs a").all():
            tab.click()
            check_equal(tab.get_attribute("aria-selected"), "true", "the tab that was chosen")
        check_equal(browser.problems, [], "the browser's console")
        check(all(url.startswith(("file:", "about:", "data:")) for url in browser.requests), "requests: %s" % browser.requests)


BASE = BUSY + """
import pytest

@pytest.mark.parametrize("round", range(2))
def test_busy(round):
    busy(0.5)
"""

TESTS = BASE + """
def test_other():
    other()

def other():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pow(3, 1000)  # another line
"""

MARKED = TESTS.replace("def test_other", "@pytest.mark.pieprofd\ndef test_other")


def pytest(interpreter, folder, *arguments, tests=TESTS):
    with open(os.path.join(folder, "test_some.py"), "w", encoding="utf-8") as file:
        file.write(tests)
    return python(interpreter, "-m", "pytest", "-p", "pieprofd.pytest_plugin", "-p", "no:cacheprovider", "--color=no",
                  *arguments, cwd=folder)


def busy_functions(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return {function["function"] for function in json.load(file)["functions"] if function["total_ns"]}


def test_pytest():
    interpreter = with_packages(default_interpreter(), "pytest")
    with tempfile.TemporaryDirectory(prefix="pieprofd-pytest-") as folder:
        run = pytest(interpreter, folder)
        check_equal(run.returncode, 0, "not asked for: %s" % run.stdout)
        check("pieprofd" not in run.stdout.split("=", 1)[1].replace("pieprofd-pytest-", ""), run.stdout)
        check_equal(os.listdir(folder), ["test_some.py"], "files")
        # The whole run, in two processes: one report of both.
        run = pytest(interpreter, folder, "-n", "2", "--pieprofd", "--pieprofd-output=x.html",
                     "--pieprofd-output=base.pieprof", tests=BASE)
        check_equal(run.returncode, 0, "the run: %s" % run.stdout)
        check("VERDICT" in run.stdout and "Wrote x.html, base.pieprof" in run.stdout and "and 1 more" in run.stdout, run.stdout)
        check_sampled("# the busy line" in run.stdout, run.stdout)
        # What is marked alone; then what is named alone.
        for tests, argument in ((MARKED, "--pieprofd"), (TESTS, "--pieprofd=test_oth*")):
            run = pytest(interpreter, folder, argument, "--pieprofd-output=one.json",
                         "--pieprofd-options=--mode time", tests=tests)
            check_equal(run.returncode, 0, "one test: %s" % run.stdout)
            functions = busy_functions(folder, "one.json")
            check("busy" not in functions, "functions: %s" % functions)
            check_sampled("other" in functions, "functions: %s" % functions)
        # A line that was not there: its time has grown by more than any percentage.
        run = pytest(interpreter, folder, "--pieprofd", "--pieprofd-base=base.pieprof", "--pieprofd-fail-if=own+50%",
                     "--pieprofd-options=--mode time")
        check("3 passed" in run.stdout, run.stdout)
        check_sampled(run.returncode == 1 and "pow(3, 1000)" in run.stdout, "slower: %d %s" % (run.returncode, run.stdout))
        check(os.path.exists(os.path.join(folder, "pieprofd.html")), "the report's own name")
        run = pytest(interpreter, folder, "--pieprofd", "--pieprofd-fail-if=own+50%")
        check(run.returncode == 4 and "--pieprofd-base" in run.stderr, run.stderr)


def test_pytest_refused():
    """Tests pass whatever becomes of the profile; where it was to be compared, the run fails."""
    interpreter = with_packages(default_interpreter(), "pytest")
    with tempfile.TemporaryDirectory(prefix="pieprofd-pytest-") as folder:
        for more, code in (((), 0), (("--pieprofd-base=x.pieprof", "--pieprofd-fail-if=own+50%"), 1)):
            run = pytest(interpreter, folder, "--pieprofd", "--pieprofd-options=--bogus", *more, tests="def test(): pass\n")
            check_equal(run.returncode, code, "exit code, with %s" % run.stdout)
            check("1 passed" in run.stdout and "the run: pieprofd: there is no option --bogus" in run.stdout, run.stdout)
        check_equal(glob.glob(folder + "/*.html"), [], "reports")
