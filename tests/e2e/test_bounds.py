# SPDX-License-Identifier: Apache-2.0
"""Targets that have more than the daemon holds: it goes on, and says so (docs/SECURITY.md has the table)."""
import json
import os
import subprocess
import tempfile

from harness import PIEPROFD, check_equal, check_sampled, default_interpreter

# Line tables of 4 MiB, of which 32 MiB are held.
CODES = """
import time
def make(number):
    space = {}
    exec("def work%%d(end):\\n    while time.thread_time() < end: sum(range(2000))" %% number, globals(), space)
    function = space["work%%d" %% number]
    code = function.__code__
    function.__code__ = code.replace(co_linetable=code.co_linetable + bytes(4 << 20))
    return function
for number in range(%d):
    make(number)(time.thread_time() + 0.15)
"""


def profile_of(script):
    with tempfile.TemporaryDirectory(prefix="pieprofd-bounds-") as folder:
        path = os.path.join(folder, "report.json")
        command = [PIEPROFD, "-q", "--mode", "time", "--rate", "199", "--max-overhead", "50", "-o", path, "--"]
        run = subprocess.run([*command, default_interpreter().path, "-c", script], capture_output=True, text=True,
                             timeout=120, check=False)
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        with open(path) as file:
            return json.load(file)


def test_code_objects():
    for count in (4, 14):
        report = profile_of(CODES % count)
        names = {line["function"] for line in report["lines"]}
        check_sampled("work0" in names, "functions %s" % sorted(names))
        lost = report["losses"].get("target_limit", 0)
        if count == 4:
            check_equal(lost, 0, "code objects left out")
        else:
            check_sampled(lost > 0 and "work13" not in names,
                          "%d code objects left out, functions %s" % (lost, sorted(names)))
