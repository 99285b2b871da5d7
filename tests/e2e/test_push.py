# SPDX-License-Identifier: Apache-2.0
"""`--push`: what a real receiver decodes, which goes away, comes back, is killed and refuses."""
import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading

from harness import (PIEPROFD, Child, Failure, Skip, Target, check, check_equal, default_interpreter, find_packages,
                     pieprofd, wait_until)
from pyroscope_receiver import PyroscopeReceiver
from test_serve import Server

RECEIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "otlp_receiver.py")
SECRET = "Bearer correct-horse-battery-staple"


class Receiver(Child):
    def __init__(self, log, port=0, answers="200", more=()):
        interpreter = default_interpreter()
        packages, reason = find_packages(interpreter, "grpcio" if "--grpc" in more else "opentelemetry-proto")
        if not packages:
            raise Skip(reason)
        self.process = subprocess.Popen(
            [interpreter.path, RECEIVER, log, "--port", str(port), "--answers", answers, *more], stdout=subprocess.PIPE,
            text=True, env=dict(os.environ, PYTHONPATH=packages))
        self.port = int(self.process.stdout.readline())
        self.url = "http://127.0.0.1:%d" % self.port


def read_log(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


def of_type(requests, name):
    return [profile for request in requests for profile in request.get("profiles", ()) if profile["type"] == name]


@contextlib.contextmanager
def folder_of_log():
    with tempfile.TemporaryDirectory() as folder:
        yield folder, os.path.join(folder, "log")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def record(target, *arguments, code=0):
    """What it said on standard error."""
    run = subprocess.run([PIEPROFD, str(target.pid), "-d", "0.7", "-q", *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    check_equal(run.returncode, code, "exit code of record, which said %s" % run.stderr)
    return run.stderr


def test_decoded():
    """One request: a resource that says whose it is, a profile each kind of value, the figures of the report."""
    with folder_of_log() as (folder, log), Receiver(log) as receiver, \
            Target(default_interpreter(), "conv_backprop.py") as target:
        report = os.path.join(folder, "report.json")
        said = record(target, "--push", receiver.url, "--push-header", "Authorization: " + SECRET, "-o", report)
        check_equal(said, "", "what record says")
        requests = read_log(log)
        check_equal([request["path"] for request in requests], ["/v1development/profiles"], "requests")
        check_equal(requests[0]["headers"]["Authorization"], SECRET, "header")
        profiles = requests[0]["profiles"]
        for profile in profiles:
            resource = profile["resource"]
            check_equal((resource["service.name"], resource["process.pid"], resource["host.name"]),
                        ("conv_backprop", target.pid, socket.gethostname()), "resource")
            check_equal(len(profile["id"]), 32, "digits of an id")
        check_equal(len({profile["id"] for profile in profiles}), len(profiles), "different ids")
        with open(report, encoding="utf-8") as file:
            wanted = json.load(file)
        cpu, = of_type(requests, "cpu")
        check_equal(cpu["unit"], "nanoseconds", "unit")
        check_equal(cpu["duration"], wanted["duration_ns"], "duration")
        check_equal(cpu["sum"], sum(of["sum"] for name in ("python", "native", "system")
                                    for of in of_type(requests, name)), "parts of the CPU time")
        check(any("conv_backprop.py" in frame and frame.endswith(" cpython") for frame in cpu["heaviest"]),
              "no frame of the program: %r" % cpu["heaviest"])
        check_equal(cpu["attributes"]["thread.id"], target.pid, "thread")


def test_receiver_away_and_killed():
    """A receiver that is not there, is busy, takes one and dies, comes back: all windows are there, each once."""
    port = free_port()
    with folder_of_log() as (_, log), Target(default_interpreter(), "conv_backprop.py") as target, \
            Server(target.pid, "--push", "http://127.0.0.1:%d" % port, "--push-every", "1") as server:
        wait_until(lambda: "tried again later" in server.process.stderr.readline(), 20, "a failure that is told")
        with Receiver(log, port, "503,0,200"):
            wait_until(lambda: len(of_type(read_log(log), "cpu")) >= 3, 30, "profiles from the spool")
        # It is killed here, perhaps in the middle of an answer.
        had = len(read_log(log))
        with Receiver(log, port):
            wait_until(lambda: len(read_log(log)) >= had + 3, 30, "profiles after the restart")
            server.finish()
        requests = read_log(log)
        unanswered, = [of_type([request], "cpu")[0]["id"] for request in requests if not request["status"]]
        profiles = sorted(of_type(requests, "cpu"), key=lambda profile: profile["time"])
        ids = [profile["id"] for profile in profiles]
        check(ids.count(unanswered) >= 2, "what was not answered came once: %r" % ids)
        windows = list({profile["id"]: profile for profile in profiles}.values())
        check(len(windows) >= 5, "%d windows" % len(windows))
        for one, other in zip(windows, windows[1:]):
            gap = other["time"] - one["time"] - one["duration"]
            check(abs(gap) < 100e6, "%d ns between two windows of %r" % (gap, windows))


def test_spool_is_sent_by_the_next():
    with folder_of_log() as (folder, log), Target(default_interpreter(), "conv_backprop.py") as target:
        spool = os.path.join(folder, "spool")
        said = record(target, "--push", "http://127.0.0.1:%d" % free_port(), "--push-spool", spool)
        check("1 of 1 requests were not taken; they are kept, and --push-spool %s" % spool in said, said)
        with open(os.path.join(spool, "%020d.otlp" % 7), "wb") as file:
            file.write(b"pieprofd push 1\nno request at all")
        with Receiver(log) as receiver:
            record(target, "--push", receiver.url, "--push-spool", spool)
        check_equal(len(of_type(read_log(log), "cpu")), 2, "profiles of both runs")
        check_equal(os.listdir(spool), ["lock"], "what is left")
        os.chmod(spool, 0o777)
        check("others may write there" in record(target, "--push", receiver.url, "--push-spool", spool, code=2),
              "a folder of everybody's is taken")


def test_refusals():
    with folder_of_log() as (_, log), Target(default_interpreter(), "conv_backprop.py") as target:
        for url, words in (("collector:4318", "no http:// or https://"), ("ftp://collector", "no http:// or https://"),
                           ("http://user:pass@collector", "command lines are public"), ("http://", "no address")):
            said = pieprofd("record", str(target.pid), "--push", url, code=2).stderr
            check(words in said and "pass" not in said.replace("--pass", ""), said)
        check("NAME: VALUE" in pieprofd("record", str(target.pid), "--push", "http://localhost", "--push-header",
                                        SECRET, code=2).stderr, "a header without a name")
        with Receiver(log, answers="307,400") as receiver:
            tokens = log + ".tokens"
            with open(tokens, "w", encoding="utf-8") as file:
                file.write("Authorization: %s\nX-Scope-OrgID: a\n" % SECRET)
            said = record(target, "--push", receiver.url, "--push-header", "@" + tokens)
            said += record(target, "--push", receiver.url, "--push-header", "@" + tokens)
        check("refused for good: HTTP status 307" in said and "refused for good: HTTP status 400" in said, said)
        check(SECRET not in said, said)
        requests = read_log(log)
        check_equal([request["path"] for request in requests], ["/v1development/profiles"] * 2, "paths asked for")
        check_equal([request["headers"]["X-Scope-OrgID"] for request in requests], ["a"] * 2, "headers")


def test_grpc():
    """Busy twice, once with a delay: it comes again with the same ids, and is then taken."""
    with folder_of_log() as (_, log), Target(default_interpreter(), "conv_backprop.py") as target, \
            Receiver(log, answers="RETRY,UNAVAILABLE,OK", more=["--grpc"]) as receiver, \
            Server(target.pid, "--push", receiver.url, "--push-protocol", "grpc", "--push-every", "1", "--push-header",
                   "Authorization: " + SECRET) as server:
        wait_until(lambda: [request["status"] for request in read_log(log)][:4] == ["RETRY", "UNAVAILABLE", "OK", "OK"],
                   30, "requests by gRPC")
        metrics = server.get("/metrics").decode()
        server.finish()
        first, second, third = (of_type([request], "cpu")[0]["id"] for request in read_log(log)[:3])
        check_equal((first, first), (second, third), "ids of the same request")
        check_equal(read_log(log)[0]["headers"]["authorization"], SECRET, "header")
        check_equal(of_type(read_log(log), "cpu")[0]["resource"]["service.name"], "conv_backprop", "service")
        check("pieprofd_push_retries_total 2" in metrics and "pieprofd_push_requests_total" in metrics, metrics)


def test_grpc_refused():
    with folder_of_log() as (_, log), Target(default_interpreter(), "conv_backprop.py") as target:
        with Receiver(log, answers="PERMISSION_DENIED", more=["--grpc"]) as receiver:
            said = record(target, "--push", receiver.url, "--push-protocol", "grpc")
        check("refused for good: gRPC status 7, PERMISSION_DENIED: not now: ?? 50%" in said, said)
        with Receiver(log) as receiver:
            said = record(target, "--push", receiver.url, "--push-protocol", "grpc")
        check("does gRPC listen there" in said or "HTTP/2" in said, said)
        check("path of its own" in pieprofd("record", str(target.pid), "--push", "http://a/x", "--push-protocol", "grpc",
                                            code=2).stderr, "a path")


def test_pyroscope():
    with Target(default_interpreter(), "conv_backprop.py") as target, PyroscopeReceiver([503, 200]) as receiver:
        said = record(target, "--push", receiver.url, "--push-protocol", "pyroscope", "--push-service", "shop:web")
        check_equal((receiver.problems, receiver.tried), ([], 2), "what was refused, and how often it came")
        request, = receiver.requests
        check("tried again later: HTTP status 503" in said, said)
        check_equal((request["service"], request["labels"]["host"]), ("shop_web", socket.gethostname()), "name")
        check(b"conv_backprop.py" in request["profile"] and b"avoidable" not in request["types"], "the profile")
        check_equal(request["types"]["cpu"]["aggregation"], "sum", "types of samples")


LOOP = """
import time
while True:
    sum(str(i) == "7" for i in range(20000))
    time.sleep(0.01)
"""


def test_several_in_windows():
    """What is put has not been given up: memory that was is overwritten."""
    names = ["shop", "a,b=c", "x/y z"]
    with contextlib.ExitStack() as stack:
        targets = [subprocess.Popen([default_interpreter().path, "-c", LOOP], env=dict(os.environ, OTEL_SERVICE_NAME=name))
                   for name in names]
        for target in targets:
            stack.callback(target.wait)
            stack.callback(target.kill)
        receiver = stack.enter_context(PyroscopeReceiver([200]))
        more = [word for target in targets[1:] for word in ("-p", str(target.pid))]
        server = stack.enter_context(Server(targets[0].pid, *more, "--mode", "time", "--push", receiver.url, "--push-protocol",
                                            "pyroscope", "--push-every", "1", environment={"MALLOC_PERTURB_": "165"}))
        for name in ("shop", "a_b_c", "x/y_z"):
            wait_until(lambda name=name: sum(request["service"] == name for request in list(receiver.requests)) >= 2, 20,
                       "two windows of %s" % name)
        server.finish()
        check_equal(receiver.problems, [], "what was refused")
        check(any(b"<genexpr>" in request["profile"] for request in receiver.requests), "names of functions")
        check(not any(b"\xa5\xa5\xa5" in request["profile"] for request in receiver.requests), "what was overwritten")


def senders(port):
    """Processes that send: their parents are those that begin them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/stat" % pid, encoding="ascii") as file:
                name, rest = file.read().rsplit(")", 1)
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                ours = b":%d" % port in file.read()
            if ours and name.endswith("pieprofd-push"):
                found.append((int(pid), int(rest.split()[1])))
    pids = [pid for pid, _ in found]
    return [pid for pid, parent in found if parent in pids]


def test_sender_is_begun_again():
    """It is killed twice, while the receiver is away and while it is there: nothing is lost."""
    port = free_port()
    with folder_of_log() as (_, log), Target(default_interpreter(), "conv_backprop.py") as target, \
            Server(target.pid, "--push", "http://127.0.0.1:%d" % port, "--push-every", "1") as server:
        wait_until(lambda: "tried again later" in server.process.stderr.readline(), 20, "a failure that is told")
        os.kill(senders(port)[0], 9)
        with Receiver(log, port):
            wait_until(lambda: len(of_type(read_log(log), "cpu")) >= 3, 30, "profiles after the first death")
            os.kill(senders(port)[0], 9)
            had = len(read_log(log))
            wait_until(lambda: len(read_log(log)) >= had + 2, 30, "profiles after the second death")
            metrics = server.get("/metrics").decode()
            server.finish()
        check("pieprofd_push_sender_restarts_total 2" in metrics, metrics)
        profiles = sorted(of_type(read_log(log), "cpu"), key=lambda profile: profile["time"])
        windows = list({profile["id"]: profile for profile in profiles}.values())
        for one, other in zip(windows, windows[1:]):
            gap = other["time"] - one["time"] - one["duration"]
            check(abs(gap) < 100e6, "%d ns between two windows of %r" % (gap, windows))


def make_certificate(folder):
    key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                   stderr=subprocess.DEVNULL)
    return key, certificate


def test_own_authority():
    """gRPC by TLS: a receiver whose certificate --push-ca names is trusted."""
    with folder_of_log() as (folder, log), Target(default_interpreter(), "conv_backprop.py") as target:
        key, certificate = make_certificate(folder)
        with Receiver(log, answers="OK", more=["--grpc", "--key", key, "--certificate", certificate]) as receiver:
            url = receiver.url.replace("http:", "https:")
            said = record(target, "--push", url, "--push-protocol", "grpc", "--push-ca", certificate)
            check_equal((said, len(read_log(log))), ("", 1), "what was said, and came")
            said = record(target, "--push", url, "--push-protocol", "grpc")
            check("certificate" in said and "--push-ca FILE" in said and len(read_log(log)) == 1, said)
        said = record(target, "--push", url, "--push-ca", key, code=2)
        check("no certificate is in it" in said, said)


def test_certificate():
    """A certificate that nobody has signed: nothing is sent."""
    if not shutil.which("openssl"):
        raise Failure("no openssl, which python3's packages bring along")
    with folder_of_log() as (folder, _), Target(default_interpreter(), "conv_backprop.py") as target, \
            socket.create_server(("127.0.0.1", 0)) as listener:
        key, certificate = make_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        got = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    with connection, contextlib.suppress(OSError), context.wrap_socket(connection,
                                                                                     server_side=True) as secure:
                        got.append(secure.recv(1000))

        threading.Thread(target=serve, daemon=True).start()
        said = record(target, "--push", "https://127.0.0.1:%d" % listener.getsockname()[1], "--push-spool",
                      os.path.join(folder, "spool"))
        listener.shutdown(socket.SHUT_RDWR)
        check("certificate" in said and "1 of 1 requests were not taken" in said, said)
        check(not any(got), "it was sent: %r" % got)
