# SPDX-License-Identifier: Apache-2.0
"""An interpreter of a version that is not known: no Python frames are made up, the native ones are there."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from harness import TARGETS, Skip, check, check_equal, pieprofd, profile


def version_offset(path):
    """Where the file of a static interpreter keeps Py_Version (3.11+)."""
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", path], capture_output=True, text=True, check=False).stdout
    found = re.search(r"([0-9a-f]{16}) +[48] OBJECT +GLOBAL DEFAULT +(\d+) Py_Version", symbols)
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False).stdout
    if not found:
        raise Skip("no interpreter with Py_Version in its own file")
    section = re.search(r"\[ *%s\] \S+ +\S+ +([0-9a-f]+) ([0-9a-f]+)" % found.group(2), sections)
    return int(found.group(1), 16) - int(section.group(1), 16) + int(section.group(2), 16)


@contextlib.contextmanager
def python_of_the_future(interpreter):
    """The interpreter, saying that it is 3.99."""
    folder = tempfile.mkdtemp(prefix="pieprofd-future-")
    try:
        path = shutil.copy(interpreter.path, os.path.join(folder, "python"))
        with open(path, "r+b") as file:
            file.seek(version_offset(interpreter.path))
            file.write(b"\xf0\x00\x63\x03")
        process = subprocess.Popen([path, os.path.join(TARGETS, "conv_backprop.py"), "--seconds", "60"],
                                   stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, PYTHONHOME=interpreter.prefix, **interpreter.environment))
        try:
            check_equal(process.stdout.readline(), "ready\n", "the target's first line")
            yield process.pid
            check_equal(process.poll(), None, "the target's exit code")
        finally:
            process.kill()
            process.communicate()
    finally:
        shutil.rmtree(folder)


def test_unknown_version(one_interpreter):
    with python_of_the_future(one_interpreter) as pid:
        report, text = profile(pid, "-d", 3)
        refused = pieprofd("--pid", pid, "-d", 1, "--mode", "redundancy", code=5)
        run = pieprofd("--pid", pid, "-d", 1)
        dump = pieprofd("dump", "--pid", pid)
    check("3.99" in refused.stderr, refused.stderr)
    check("3.99" in run.stderr and "native stacks and time alone" in run.stderr, run.stderr)
    check("3.99" in dump.stdout, dump.stdout)
    check("could not be read" in text, text)
    check_equal(report["target"]["python"], None, "version in JSON")
    check_equal(report["pairs"], [], "pairs")
    check(report["samples"] > 20, "%d samples" % report["samples"])
    # Its time is told by native function.
    check(any("umath" in line["file"] for line in report["lines"]), "lines: %s" % [
        (line["file"], line["function"]) for line in report["lines"]][:10])
