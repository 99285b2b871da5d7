#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in the heap that mean something to whoever shows them: a module, a type, an attribute.

    heap_names.py ARGUMENT

The argument is for /proc/PID/cmdline alone. Ends when its standard input does.
"""
import os
import sys
import types

from support import ready

MODULE = "evil;</script><script>document.title='owned'</script>"
Hostile = type("<img src=x onerror=document.title='owned'>\u202e&\"'", (), {})


def build():
    item = Hostile()
    setattr(item, "right\u202eleft", "x" * (500 * len(sys.argv)))
    return item


sys.modules[MODULE] = types.ModuleType(MODULE)
sys.modules[MODULE].cache = [build() for _ in range(3000)]
ready()
sys.stdin.read()
print("ok heap_names", flush=True)
os._exit(0)
