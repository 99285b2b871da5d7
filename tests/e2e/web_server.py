# SPDX-License-Identifier: Apache-2.0
"""A web server, gunicorn with two workers that it forks, and clients that ask at a fixed rate and check every answer."""
import functools
import multiprocessing
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from harness import Failure, Skip, TARGETS, check, find_interpreters, wait_until

sys.path.insert(0, TARGETS)

import web_application  # noqa: E402

OK, LOST, WRONG = range(3)
ANSWER_MAX_S = 20
CLIENTS = 4


@functools.lru_cache(maxsize=None)
def gunicorn_interpreter():
    for interpreter in find_interpreters():
        if not interpreter.in_root and subprocess.run(
                [interpreter.path, "-c", "import gunicorn"], env=dict(os.environ, **interpreter.environment), cwd="/",
                stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return interpreter
    raise Skip("no gunicorn: install gunicorn")


class HttpServer:
    """
    What a command starts: a process that says where it listens, which `listening` finds the port in, and so many workers
    that it forks; 0: it answers itself. answers: the right answer to each seed.
    """

    def __init__(self, command, listening, workers, answers, environment):
        self.count = workers
        self.answers = answers
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, env=dict(os.environ, OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", **environment),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        self.pid = self.process.pid
        try:
            wait_until(lambda: re.search(listening, self.said()) or self.process.poll() is not None, 60, command)
            found = re.search(listening, self.said())
            check(found, "%s ended: %s" % (command, self.said()[-500:]))
            self.port = int(found.group(1))
            self.wait_ready()
        except Failure:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                for pid in self.workers() + [self.pid]:
                    os.kill(pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()

    def said(self):
        # The process writes through the same open file: reading may not move where that is.
        return os.pread(self.log.fileno(), 1 << 20, 0).decode(errors="replace")

    def workers(self):
        if not self.count:
            return [self.pid]
        try:
            with open("/proc/%d/task/%d/children" % (self.pid, self.pid)) as file:
                return sorted(int(word) for word in file.read().split())
        except FileNotFoundError:
            return []

    def wait_ready(self, without=()):
        """Until the number of workers is right, none of the given ones among them, and each has answered."""
        answered = set()

        def ready():
            workers = self.workers()
            if len(workers) != max(1, self.count) or set(workers) & set(without):
                return False
            outcome, worker, _ = ask(self.port, 0, self.answers)
            if outcome == OK:
                answered.add(worker)
            return answered.issuperset(workers)

        wait_until(ready, 30, "the workers")

    def cpu_seconds(self):
        """Of the workers that live."""
        total = 0
        for pid in self.workers():
            with open("/proc/%d/stat" % pid) as file:
                fields = file.read().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")


class WebServer(HttpServer):
    """gunicorn with two sync workers: each answers one request at a time, in its only thread."""

    def __init__(self):
        interpreter = gunicorn_interpreter()
        super().__init__([interpreter.path, "-m", "gunicorn", "--workers", "2", "--bind", "127.0.0.1:0", "--chdir",
                          TARGETS, "web_application:application"], r"Listening at: http://127\.0\.0\.1:([1-9]\d*)", 2,
                         known_answers(), interpreter.environment)


@functools.lru_cache(maxsize=None)
def known_answers():
    return [web_application.answer_of(seed) for seed in range(web_application.SEEDS)]


def ask(port, number, answers):
    """One request on a connection of its own: how it went, the worker that answered, what went wrong."""
    seed = number % len(answers)
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), ANSWER_MAX_S) as connection:
            connection.sendall(b"GET /?number=%d&seed=%d HTTP/1.0\r\nHost: localhost\r\n\r\n" % (number, seed))
            while True:
                part = connection.recv(65536)
                if not part:
                    break
                answer += part
    except OSError as error:
        return LOST, None, "%s after %d bytes" % (error, len(answer))
    head, _, body = answer.partition(b"\r\n\r\n")
    # A worker that is killed may have sent the head.
    if not body.endswith(b"\n"):
        return LOST, None, "only %r" % answer[-100:]
    words = body.decode(errors="replace").split()
    if head.split()[1:2] != [b"200"] or len(words) != 3 or words[0] != str(number) or words[2] != answers[seed]:
        return WRONG, None, "%r" % answer[-200:]
    return OK, int(words[1]), None


class Load:
    """
    Clients in a process of their own. Each request has a moment at which it is due, whether or not the one before it
    was answered in time, and its latency counts from there. finish() has (due, latency, outcome, error) of all, in order;
    due is time.monotonic(), the same in all processes.
    """

    def __init__(self, server, rate):
        self.mine, theirs = multiprocessing.Pipe()
        # By fork, before the tests' own threads are made.
        self.process = multiprocessing.get_context("fork").Process(target=self._work,
                                                                   args=(theirs, server.port, rate, server.answers))
        self.process.start()
        theirs.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.mine.close()

    @staticmethod
    def _work(pipe, port, rate, answers):
        ended = threading.Event()
        lists = [[] for _ in range(CLIENTS)]
        begin = time.monotonic() + 0.1

        def client(index):
            # Never in step with anything that is periodic.
            chance = random.Random(index)
            number = index
            while not ended.is_set():
                due = begin + (number + chance.random()) / rate
                time.sleep(max(0, due - time.monotonic()))
                outcome, _, error = ask(port, number, answers)
                lists[index].append((due, time.monotonic() - due, outcome, error))
                number += CLIENTS

        threads = [threading.Thread(target=client, args=(index,)) for index in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            pipe.recv()
        except EOFError:
            pass
        ended.set()
        for thread in threads:
            thread.join()
        pipe.send(sorted(record for records in lists for record in records))

    def finish(self):
        self.mine.send("end")
        check(self.mine.poll(4 * ANSWER_MAX_S), "the clients hang")
        return self.mine.recv()
