# SPDX-License-Identifier: Apache-2.0
"""Builds smallkit.c beside it once for the running interpreter.

The file is both an extension module, `smallkit`, and a plain shared library.
"""

import importlib.machinery
import importlib.util
import os
import subprocess
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "smallkit.c")
LIBRARY = os.path.join(HERE, "native-build", "smallkit" + sysconfig.get_config_var("EXT_SUFFIX"))


def build():
    if not os.path.exists(LIBRARY) or os.path.getmtime(LIBRARY) < os.path.getmtime(SOURCE):
        os.makedirs(os.path.dirname(LIBRARY), exist_ok=True)
        part = "%s.%d" % (LIBRARY, os.getpid())
        subprocess.run(
            ["cc", "-O2", "-g", "-shared", "-fPIC", "-I" + sysconfig.get_paths()["include"], SOURCE, "-o", part, "-lm"],
            check=True,
        )
        os.replace(part, LIBRARY)
    return LIBRARY


def load_smallkit():
    loader = importlib.machinery.ExtensionFileLoader("smallkit", build())
    spec = importlib.util.spec_from_loader("smallkit", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
