# SPDX-License-Identifier: Apache-2.0
"""Code whose source is not in a file of its own: notebooks, archives, frozen modules, packed programs, exec()."""
import contextlib
import json
import os
import subprocess
import tempfile
import zipfile

from harness import (Skip, check, check_equal, check_sampled, find_interpreters, find_packages, pieprofd,
                     with_packages)
from test_dump import dumped, innermost_python, waiting_target


def profile_of(pid, *arguments):
    run = pieprofd("--pid", pid, "-d", 1.5, "--mode", "time", "-q", "--format", "json", "-o", "-", *arguments)
    return json.loads(run.stdout)


def line_with(profile, source):
    return next((line for line in profile["lines"] if source in (line["source"] or "")), None)


def test_texts_in_memory(interpreter):
    """linecache: what is there is shown, nonsense is not, and no file is opened for a name that is none."""
    with waiting_target(interpreter, "without_file.py") as (target, _):
        dump = dumped(target.pid)
        text = pieprofd("dump", "--pid", target.pid, "--no-native").stdout
    threads = {thread["name"]: innermost_python(thread) for thread in dump["threads"]}
    for name, file, source in (
            ("known", "<made by a program>", "time.sleep(3600)  # in the text of known"),
            ("old_cell", "In [7]", "time.sleep(3600)  # in the text of old_cell"),
            ("unknown", "<string>", None), ("of_no_file", "no/such/file.py", "time.sleep(3600)  # in the text of of_no_file"),
            ("numbers", "<lines that are numbers>", None), ("none", "<lines that are none>", None),
            ("circle", "<lines in a circle>", None), ("long", "<a line of a megabyte>", "x" * 240)):
        frame = threads[name]
        check_equal((frame["function"], frame["file"], frame["line"], frame["source"]), (name, file, 4, source), name)
    check(threads["attack"]["source"].endswith("# attacks"), "attack: %r" % threads["attack"])
    check("\x1b" not in text and "\u202e" not in text, "control characters in the text")
    check_equal(dump["target_limit"], 1, "texts that are left out")


ARCHIVE = {
    "__main__.py": "import sys, time\nfrom package.work import busy\nprint('ready', flush=True)\n"
                   "while True:\n    busy()  # main of the archive\n",
    "package/__init__.py": "",
    "package/work.py": "def busy():\n    return sum(i * i for i in range(20000))  # in the archive\n",
}


@contextlib.contextmanager
def running(command, **options):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **options)
    try:
        check_equal(process.stdout.readline(), "ready\n", "the first words of %s" % command)
        yield process
        check_equal(process.poll(), None, "its exit code")
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def archived(interpreter, compression):
    with tempfile.TemporaryDirectory(prefix="pieprofd-zipapp-") as folder:
        with open(os.path.join(folder, "app.pyz"), "wb") as file:
            file.write(b"#!/usr/bin/env python3\n")
            with zipfile.ZipFile(file, "w", compression) as archive:
                for name, text in ARCHIVE.items():
                    archive.writestr(name, text)
        with running([interpreter.path, "app.pyz"], cwd=folder) as process:
            yield process.pid


def test_zipapp(interpreter):
    """Text of files in an archive, stored and deflated, behind a first line for the shell, by a relative name."""
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with archived(interpreter, compression) as pid:
            frames = dumped(pid, "--no-native")["threads"][0]["frames"]
        shown = {frame["function"].split(".")[0]: frame for frame in frames}
        check_equal(shown["<module>"]["source"], "busy()  # main of the archive", "the archive's main")
        # From 3.11 on frozen: <frozen runpy>, whose text is that of the library's file. To 3.7 a call is at its end.
        check(shown["_run_module_as_main"]["source"] in ("return _run_code(code, main_globals, None,",
                                                         '"__main__", mod_spec)'), "runpy: %s" % shown)
        check_sampled("busy" in shown, "its function does not run: %s" % shown)
        check(shown["busy"]["file"].endswith("app.pyz/package/work.py"), "busy: %s" % shown["busy"])
        check(shown["busy"]["source"].endswith("# in the archive"), "busy: %s" % shown["busy"])


def test_profile_of_a_zipapp(one_interpreter):
    with archived(one_interpreter, zipfile.ZIP_DEFLATED) as pid:
        profile = profile_of(pid)
    line = line_with(profile, "# in the archive")
    check(line, "lines: %s" % [line["file"] for line in profile["lines"]])
    check(line["file"].endswith("app.pyz/package/work.py"), "line: %s" % line)


def test_notebook(one_interpreter):
    """Cells in a real kernel are In [1] and In [3], with their text."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-notebook-") as folder:
        interpreter = with_packages(one_interpreter, "ipykernel")
        with waiting_kernel(interpreter, folder) as kernel:
            profile = profile_of(kernel)
            page = pieprofd("--pid", kernel, "-d", 0.5, "--mode", "time").stdout
            frames = next(thread for thread in dumped(kernel)["threads"] if thread["tid"] == kernel)["frames"]
    line = line_with(profile, "# in the first cell")
    check(line, "lines: %s" % [line["file"] for line in profile["lines"]])
    check_equal((line["file"], line["line"]), ("In [1]", 2), "the busy line")
    check("In [1]:2" in page, "the text: %s" % page)
    outer = next(frame for frame in frames if frame.get("function") == "<module>" and frame["file"] == "In [3]")
    check(outer["source"] in ("busy(range(20000))  # in the third cell", "while not os.path.exists(END):"),
          "the cell that calls: %s" % outer)


@contextlib.contextmanager
def waiting_kernel(interpreter, folder):
    with subprocess.Popen(interpreter.command("notebook.py", folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=dict(os.environ, **interpreter.environment)) as process:
        try:
            kernel = process.stdout.readline()
            check(kernel.strip().isdigit(), "the notebook said %r, %r" % (kernel, process.poll()))
            check_equal(process.stdout.readline(), "ready\n", "the second line")
            yield int(kernel)
            output, _ = process.communicate("", timeout=60)
            check_equal(output, "ok notebook\n", "the notebook's last words")
        finally:
            process.kill()


def shared_interpreter():
    for interpreter in find_interpreters():
        if interpreter.version >= (3, 8) and not interpreter.in_root and interpreter.name.endswith("shared"):
            folder, _ = find_packages(interpreter, "pyinstaller")
            if folder:
                return interpreter, folder
    raise Skip("no interpreter with a shared library and PyInstaller")


def test_packed_program():
    """PyInstaller: names as they were where it was packed; a file that happens to have such a name is not shown."""
    interpreter, packages = shared_interpreter()
    with tempfile.TemporaryDirectory(prefix="pieprofd-packed-") as folder:
        os.mkdir(os.path.join(folder, "package"))
        for name, text in ARCHIVE.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        run = subprocess.run([interpreter.path, "-m", "PyInstaller", "--log-level", "ERROR", "--name", "packed",
                              "__main__.py"], cwd=folder, env=dict(os.environ, PYTHONPATH=packages), text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check_equal(run.returncode, 0, "PyInstaller: %s" % run.stdout)
        with running([os.path.join(folder, "dist", "packed", "packed")], cwd=folder) as process:
            profile = profile_of(process.pid)
    busy = [line for line in profile["lines"] if line["function"].endswith("busy")]
    check(busy, "lines: %s" % profile["lines"])
    check_equal({(line["file"], line["source"]) for line in busy}, {("package/work.py", None)}, "the busy line")
