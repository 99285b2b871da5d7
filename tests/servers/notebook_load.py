# SPDX-License-Identifier: Apache-2.0
"""A notebook: a cell defines a function that lets an array grow number by number, further cells call it."""
import os
import sys

# Neither somebody's start-up files nor a history.
os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = sys.argv[1]

from jupyter_client.manager import KernelManager  # noqa: E402

from load import drive  # noqa: E402
from work import SEEDS  # noqa: E402

CELL = """
import os
import sys
sys.path.insert(0, %r)
import numpy
from work import checksum, words_of

def answer_of(number):
    signal = numpy.zeros(0)
    for i in range(1200):
        signal = numpy.append(signal, (i * 7919 + number) %% 9973)  # planted
    return checksum(float(signal.sum()), words_of(number))

""" % os.path.dirname(os.path.abspath(__file__))


def said(client, code):
    """What a cell prints."""
    texts = []

    def hook(message):
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])

    reply = client.execute_interactive(code, timeout=60, output_hook=hook)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(str(reply["content"]))
    return "".join(texts).strip()


def main():
    manager = KernelManager()
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}",
                          "--HistoryManager.enabled=False"]
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        pid = int(said(client, CELL + "print(os.getpid())"))
        known = {}
        exec(CELL, known)
        answers = [known["answer_of"](number) for number in range(SEEDS)]
        drive(lambda number: said(client, "print(answer_of(%d))" % number), answers, rate=80, clients=1, pid=pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
