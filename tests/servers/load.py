# SPDX-License-Identifier: Apache-2.0
"""Clients of what is no web server: they ask at a fixed rate until standard input ends, and check every answer."""
import json
import os
import threading
import time


class Count:
    """What came back, said in one line of JSON at the end."""

    def __init__(self):
        self.answers = 0
        self.wrong, self.lost = [], []
        self.ended = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self):
        # Not by sys.stdin: processes that are forked meanwhile close that, and would wait for this thread's lock.
        while os.read(0, 4096):
            pass
        self.ended.set()

    def take(self, number, answer, expected):
        self.answers += 1
        if answer != expected:
            self.wrong.append("%d: %r, not %r" % (number, answer, expected))

    def say(self):
        print(json.dumps({"answers": self.answers, "wrong": self.wrong, "lost": self.lost}), flush=True)


def say_ready(pid):
    print("ready", pid, flush=True)


def drive(ask, answers, rate, clients=4, pid=0):
    """ask() for the number of each answer, again and again; pid: what is to be profiled, if not this process."""
    count = Count()
    lock = threading.Lock()
    begin = time.monotonic()

    def client(index):
        number = index
        while not count.ended.is_set():
            time.sleep(max(0, begin + number / rate - time.monotonic()))
            seed = number % len(answers)
            try:
                answer = ask(seed)
            except Exception as error:  # whatever it is, a client saw it
                with lock:
                    count.lost.append("%d: %r" % (seed, error))
            else:
                with lock:
                    count.take(seed, answer, answers[seed])
            number += clients

    threads = [threading.Thread(target=client, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    say_ready(pid)
    for thread in threads:
        thread.join()
    count.say()
