# SPDX-License-Identifier: Apache-2.0
"""Builds a C file of tests/unseen or tests/practice beside it, once for the running interpreter.

The file is both an extension module and a plain shared library.
"""

import importlib.machinery
import importlib.util
import os
import subprocess
import sysconfig


def build(source):
    """The library's path. source: as seen from here, or a whole path."""
    folder, file = os.path.split(os.path.join(os.path.dirname(os.path.abspath(__file__)), source))
    library = os.path.join(folder, "native-build", file[:-2] + sysconfig.get_config_var("EXT_SUFFIX"))
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(os.path.join(folder, file)):
        os.makedirs(os.path.dirname(library), exist_ok=True)
        part = "%s.%d" % (library, os.getpid())
        subprocess.run(
            ["cc", "-O2", "-g", "-shared", "-fPIC", "-I" + sysconfig.get_paths()["include"],
             os.path.join(folder, file), "-o", part, "-lm"],
            check=True,
        )
        os.replace(part, library)
    return library


def load(source):
    """The extension module."""
    loader = importlib.machinery.ExtensionFileLoader(os.path.basename(source)[:-2], build(source))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
