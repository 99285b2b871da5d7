# SPDX-License-Identifier: Apache-2.0
"""A process that a library has forked without telling the interpreter, as uWSGI's workers are."""
import os
import subprocess
import tempfile

from harness import Skip, check, check_sampled, find_interpreters, pieprofd

# What the interpreter holds for its main thread's number is the parent's then, from 3.11 on.
PROGRAM = """\
import ctypes, os, sys
child = ctypes.PyDLL(None).fork()
if child:
    print(child, flush=True)
    sys.stdin.read()
    os.kill(child, 9)
    os._exit(0)
def work():
    total = 0
    for i in range(100000):
        total += i
while True:
    work()
"""


def check_child(interpreter):
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(PROGRAM)
        parent = subprocess.Popen([interpreter.path, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **interpreter.environment))
        try:
            child = int(parent.stdout.readline())
            dump = pieprofd("dump", "--pid", child).stdout
            text = pieprofd("--pid", child, "-d", "1.5", "--mode", "time", "--details").stdout
        finally:
            parent.communicate(b"")
    check("\n    work  " in dump and "running, holds the GIL" in dump, "the dump: %s" % dump)
    check_sampled("in work" in text and "program.py:11" in text, "the profile: %s" % text)


def test_forked_by_a_library():
    later = [interpreter for interpreter in find_interpreters()
             if interpreter.version[1] >= 11 and not interpreter.in_root]
    if not later:
        raise Skip("no interpreter with native_thread_id")
    for interpreter in {later[0].version[1]: later[0], later[-1].version[1]: later[-1]}.values():
        check_child(interpreter)
