#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A notebook without a browser: cells in an ipykernel, as Jupyter runs them.

    notebook.py

The kernel's number is the line before `ready`; the last cell runs until standard input ends.
"""
import os
import sys

# Neither somebody's start-up files nor a history.
os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = sys.argv[1]

from jupyter_client.manager import KernelManager  # noqa: E402

from support import ready  # noqa: E402

CELLS = ("""
def busy(numbers):
    return sum(number * number for number in numbers)  # in the first cell
""", """
import os
import time
pid = os.getpid()
""", """
print("the kernel is", pid, flush=True)
while not os.path.exists(END):
    busy(range(20000))  # in the third cell
""")


def main():
    end = os.path.join(sys.argv[1], "end")
    manager = KernelManager()
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}",
                          "--HistoryManager.enabled=False"]
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    client.execute_interactive(CELLS[0] + "END = %r\n" % end, timeout=60)
    client.execute_interactive(CELLS[1], timeout=60)
    last = client.execute(CELLS[2])
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["msg_type"] == "stream":
            print(message["content"]["text"].split()[-1], flush=True)
            break
    ready()
    sys.stdin.read()
    open(end, "w").close()
    while True:
        reply = client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == last:
            break
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    print("ok notebook" if reply["content"]["status"] == "ok" else "wrong notebook: %s" % reply, flush=True)


if __name__ == "__main__":
    main()
