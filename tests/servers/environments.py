# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with the servers' packages, kept in the tests' cache; why there is none."""
import json
import os
import shutil
import subprocess
import sys

from harness import CACHE, Skip, check_equal

FOLDER = os.path.join(CACHE, "servers")
# Of the packages asked for, and of what was fetched with them.
VERSIONS = """
import importlib.metadata, json, sys
print(json.dumps({name: importlib.metadata.version(name) for name in sys.argv[1:]}))
"""
ANSWERS = """
import json
from work import SEEDS
from %s import answer_of
print(json.dumps([answer_of(seed) for seed in range(SEEDS)]))
"""


class Environment:
    """python: its interpreter; versions: of the packages that were asked for."""

    def __init__(self, folder, packages, python=None):
        self.folder = folder
        self.python = python or self.program("python")
        run = subprocess.run([self.python, "-c", VERSIONS, *packages], capture_output=True, text=True, check=False)
        self.versions = json.loads(run.stdout) if run.returncode == 0 else None

    def program(self, name):
        return os.path.join(self.folder, "bin", name)

    def answers(self, module, here):
        """What an application of a folder answers to each seed, computed before anything is profiled."""
        run = subprocess.run([self.python, "-c", ANSWERS % module], capture_output=True, text=True, check=False,
                             cwd=here)
        check_equal(run.returncode, 0, "exit code of %s, which said %r" % (module, run.stderr[-500:]))
        return json.loads(run.stdout)


def environment(name, packages):
    """Made by pip when it is not there; one that is there stays as it is. Without packages, our own interpreter."""
    if not packages:
        return Environment(sys.prefix, (), sys.executable)
    folder = os.path.join(FOLDER, "%s-%d.%d" % ((name,) + sys.version_info[:2]))
    if not os.path.exists(folder):
        print("fetching %s" % ", ".join(packages), flush=True)
        os.makedirs(FOLDER, exist_ok=True)
        steps = ([sys.executable, "-m", "venv", folder],
                 [os.path.join(folder, "bin", "python"), "-m", "pip", "install", "--quiet",
                  "--disable-pip-version-check", "--no-cache-dir", *packages])
        for step in steps:
            # uWSGI is compiled, by as many processes as that says.
            run = subprocess.run(step, capture_output=True, text=True, check=False, env=dict(os.environ, CPUCOUNT="1"))
            if run.returncode:
                shutil.rmtree(folder, ignore_errors=True)
                said = [line for line in run.stderr.strip().splitlines() if "ERROR" in line or "rror:" in line]
                raise Skip("%s: %s" % (name, (said or ["no virtual environment"])[-1][:160]))
    found = Environment(folder, packages)
    if found.versions is None:
        raise Skip("%s lacks some of %s: remove it to have it made again" % (folder, ", ".join(packages)))
    return found
