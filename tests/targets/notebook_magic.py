#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A notebook without a browser whose cells profile themselves: prints what became of each, a line of JSON.

    notebook_magic.py FOLDER <CELLS      CELLS: a list of strings, as JSON
"""
import json
import os
import sys

# Neither somebody's start-up files nor a history.
os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = sys.argv[1]

from jupyter_client.manager import KernelManager  # noqa: E402


def run(client, cell):
    """The kernel's answer: what is shown as text and as a page, and how it ended."""
    shown = {"status": None, "text": "", "html": "", "traceback": ""}

    def show(message):
        content = message["content"]
        if message["msg_type"] == "stream":
            shown["text"] += content["text"]
        elif message["msg_type"] in ("display_data", "execute_result"):
            shown["text"] += content["data"].get("text/plain", "")
            shown["html"] += content["data"].get("text/html", "")
        elif message["msg_type"] == "error":
            shown["traceback"] = "\n".join(content["traceback"])

    reply = client.execute_interactive(cell, timeout=60, output_hook=show)
    shown["status"] = reply["content"]["status"]
    return shown


def main():
    manager = KernelManager()
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}",
                          "--HistoryManager.enabled=False"]
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        for cell in json.load(sys.stdin):
            print(json.dumps(run(client, cell)), flush=True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
