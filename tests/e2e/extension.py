# SPDX-License-Identifier: Apache-2.0
"""C extensions of tests/targets, built for an interpreter whose headers are here."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from harness import TARGETS, Skip, find_interpreters


def first_with_headers():
    """An interpreter and where its Python.h is."""
    program = "import sysconfig; print(sysconfig.get_path('include'))"
    for interpreter in find_interpreters():
        run = subprocess.run([interpreter.path, "-c", program], capture_output=True, text=True, check=False)
        if os.path.exists(os.path.join(run.stdout.strip(), "Python.h")):
            return interpreter, run.stdout.strip()
    raise Skip("no interpreter with headers")


@contextlib.contextmanager
def built(name, include):
    """The folder with NAME.so, made from NAME.c."""
    folder = tempfile.mkdtemp(prefix="pieprofd-extension-")
    try:
        subprocess.run(["cc", "-O2", "-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC",
                        "-pthread", "-I", include, "-o", os.path.join(folder, name + ".so"),
                        os.path.join(TARGETS, name + ".c")], check=True)
        yield folder
    finally:
        shutil.rmtree(folder)
