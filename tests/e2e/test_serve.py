# SPDX-License-Identifier: Apache-2.0
"""`serve`: real clients of a real server, several at once, slow, hostile, refused; the target knows of none."""
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time

from harness import (MANY_SAMPLES, PIEPROFD, Child, Target, check, check_equal, check_sampled, default_interpreter,
                     go_pprof, pieprofd, sanitized, status_of, wait_until)
from test_refusals import EPERM, PERF_EVENT_OPEN, refuse_call

HOT_LINE = "conv_backprop.py:33"
TOKEN = "correct-horse-battery-staple"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server(Child):
    """pieprofd serve, running, once it says where."""

    def __init__(self, pid, *arguments, listen="127.0.0.1:0", environment=None, prepare=None, command=(PIEPROFD,)):
        chosen = ["--pid", str(pid)] if pid else []
        self.process = subprocess.Popen(
            [*command, "serve", *chosen, "--listen", listen, *arguments], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, preexec_fn=prepare,
            env=dict(os.environ, **(environment or {})))
        self.said = ""
        self.url = self.port = self.path = None
        while not self.url:
            line = self.process.stderr.readline()
            check(line, "no server: %s" % self.said)
            self.said += line
            found = re.search(r" on (http://\S+:(\d+)/|unix:(\S+))$", line)
            if found:
                self.url, self.port, self.path = found.groups()

    def connect(self, timeout=60):
        if self.path:
            return UnixConnection(self.path, timeout)
        return http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=timeout)

    def ask(self, path, method="GET", **headers):
        """Status, headers, body."""
        connection = self.connect()
        try:
            connection.request(method, path, None, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def get(self, path, status=200, method="GET", **headers):
        got, _, body = self.ask(path, method, **headers)
        check_equal(got, status, "status of %s %s, which said %r" % (method, path, body[:200]))
        return body

    def raw(self):
        connection = socket.create_connection(("127.0.0.1", int(self.port)))
        connection.settimeout(20)
        return connection

    def finish(self, code=0):
        self.process.send_signal(signal.SIGTERM)
        check_equal(self.process.wait(30), code, "exit code of serve")

    def memory(self):
        return int(status_of(self.process.pid)["VmRSS"].split()[0])

    def files(self):
        return {int(name) for name in os.listdir("/proc/%d/fd" % self.process.pid)}

    def sockets(self):
        count = 0
        for descriptor in self.files():
            # One that was listed may be closed meanwhile.
            with contextlib.suppress(FileNotFoundError):
                count += os.readlink("/proc/%d/fd/%d" % (self.process.pid, descriptor)).startswith("socket:")
        return count


@contextlib.contextmanager
def served(*arguments, **options):
    """A target that checks itself, served; at the end it must not have noticed."""
    with Target(default_interpreter(), "undisturbed.py", "--until-eof", stdin=subprocess.PIPE) as target:
        with Server(target.pid, *arguments, **options) as server:
            yield target, server
            server.finish()
        target.check_undisturbed()
        said = target.finish()
        check("unexpected=0" in said, said)


def raw_profile(folder, body, *arguments):
    """What go tool pprof reads in a profile."""
    path = os.path.join(folder, "fetched.pb.gz")
    with open(path, "wb") as file:
        file.write(body)
    return pprof(folder, *(arguments or ("-raw",)), path)


def pprof(folder, *arguments):
    run = subprocess.run([go_pprof(), *arguments], capture_output=True, text=True, timeout=120, check=False,
                         env=dict(os.environ, PPROF_TMPDIR=folder))
    check_equal(run.returncode, 0, "exit code of pprof, which said %r" % run.stderr[-400:])
    return run.stdout


def duration(raw):
    """In seconds."""
    return float(re.search(r"^Duration: ([0-9.e+]+)", raw, re.M).group(1))


def metrics_of(text):
    """Prometheus' text format 0.0.4, strictly: {(name, labels): value}, {family: type}."""
    check(text.endswith("\n"), "the last line has no end")
    types, helped, values, family = {}, set(), {}, None
    for line in text.splitlines():
        comment = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line)
        if comment:
            kind, name, rest = comment.groups()
            if kind == "HELP":
                check(name not in helped, "%s has two HELP lines" % name)
                helped.add(name)
                family = name
            else:
                check(name == family and name not in types, "TYPE of %s is not behind its HELP" % name)
                check(rest in ("counter", "gauge", "histogram"), line)
                types[name] = rest
            continue
        sample = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)+)\})?'
                              r' (-?[0-9.]+(?:e[+-]?[0-9]+)?|[+-]Inf|NaN)', line)
        check(sample, "not a line of the format: %r" % line)
        name, labels, value = sample.groups()
        owner = re.sub(r"_(bucket|sum|count)$", "", name) if types.get(family) == "histogram" else name
        check(owner == family and owner in types, "%s stands with %s" % (name, family))
        check((name, labels) not in values, "twice: %s" % line)
        values[name, labels] = float(value)
        if types[family] != "gauge":
            check(float(value) >= 0, line)
        if types[family] == "counter":
            check(name.endswith("_total"), "a counter's name: %s" % name)
    for name, kind in types.items():
        if kind == "histogram":
            buckets = [(float(re.search(r'le="([^"]+)"', labels).group(1).replace("+Inf", "inf")), value)
                       for (key, labels), value in values.items() if key == name + "_bucket"]
            check(buckets == sorted(buckets) and buckets[-1][0] == float("inf"), "buckets of %s: %r" % (name, buckets))
            check([v for _, v in buckets] == sorted(v for _, v in buckets), "buckets of %s: %r" % (name, buckets))
            check_equal(values[name + "_count", None], buckets[-1][1], "count of %s" % name)
    return values, types


def test_profiles():
    """What Go's own client fetches, several at once and back to back; and the rest that is there to read."""
    go_pprof()
    with tempfile.TemporaryDirectory() as folder, served(*MANY_SAMPLES) as (target, server), \
            concurrent.futures.ThreadPoolExecutor(4) as pool:
        before = metrics_of(server.get("/metrics").decode())[0]
        fetches = [pool.submit(pprof, folder, "-top", "-cum", "-lines", "-seconds", "4",
                               server.url + "debug/pprof/profile?seconds=4"),
                   pool.submit(server.get, "/debug/pprof/redundancy?seconds=4"),
                   pool.submit(server.get, "/debug/fgprof?seconds=3"),
                   pool.submit(lambda: [server.get("/debug/pprof/profile?seconds=1") for _ in range(3)])]
        top, redundancy, wall, back_to_back = [fetch.result() for fetch in fetches]
        hot = [line for line in top.splitlines() if HOT_LINE in line]
        # flat, flat%, sum%, cum, cum%
        check_sampled(hot and float(hot[0].split()[4].rstrip("%")) > 50, "the hot line in\n%s" % top)
        raw = raw_profile(folder, back_to_back[-1])
        check("samples/count cpu/nanoseconds[dflt]" in raw, raw[:400])
        check(0.9 < duration(raw) < 3, "a window of 1 s lasted %g s" % duration(raw))
        check_sampled(HOT_LINE.split(":")[0] in raw, raw[:1000])
        text = raw_profile(folder, wall, "-top", "-cum")
        check("Type: time" in text, text)
        # One thread computes, as far as it may, and one waits.
        shares = {line.split()[-1]: float(line.split()[4].rstrip("%")) for line in text.splitlines()
                  if re.match(r" *[0-9.]+(m?s)? +[0-9.]+% ", line)}
        check_sampled(shares.get("Sleeper.run", 0) > 30 and shares.get("Convolution.backprop", 0) > 3, text)
        # Each thread's own time, of the window alone.
        tags = raw_profile(folder, wall, "-tags")
        check("thread: Total" in tags and "MainThread" in tags and ": %d\n" % target.pid in tags, tags)
        text = raw_profile(folder, wall, "-top", "-cum", "-tagfocus=thread=^MainThread$")
        check_sampled("Convolution.backprop" in text and "Sleeper.run" not in text, text)
        raw = raw_profile(folder, redundancy)
        check("redundant/count[dflt] avoidable/nanoseconds" in raw, raw[:400])
        check_sampled("again by]" in raw, raw[:1000])

        text = server.ask("/metrics")
        check_equal(text[1]["Content-Type"], "text/plain; version=0.0.4; charset=utf-8", "type of /metrics")
        after, types = metrics_of(text[2].decode())
        for key, value in before.items():
            if types[re.sub(r"_(bucket|sum|count)$", "", key[0]) if key[0] not in types else key[0]] != "gauge":
                check(after[key] >= value, "%s went from %g to %g" % (key, value, after[key]))
        check_sampled(after["pieprofd_samples_total", None] > before["pieprofd_samples_total", None] + 50, "no samples")
        check(after["pieprofd_stop_duration_seconds_count", None] > 50, "no stops")
        check_equal(after["pieprofd_http_requests_total", 'endpoint="profile",code="200"'], 4, "profiles fetched")
        check_equal(after["pieprofd_state", 'state="sampling"'], 1, "the state")

        status, headers, page = server.ask("/")
        check_equal(status, 200, "status of the page")
        for name, value in (("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
                            ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
                            ("Content-Type", "text/html; charset=utf-8")):
            check_equal(headers[name], value, "header %s" % name)
        check("frame-ancestors 'none'" in headers["Content-Security-Policy"], headers["Content-Security-Policy"])
        check_same_page(target, folder, page.decode())

        check_equal(server.get("/healthz"), b"sampling\n", "/healthz")
        check(b"/debug/fgprof" in server.get("/debug/pprof/"), "the index")
        for name in ("allocs", "block", "mutex", "goroutine", "threadcreate", "trace", "cmdline", "symbol"):
            check(b"no %s here: " % name.encode() in server.get("/debug/pprof/" + name, 404), name)
        for seconds in ("0", "-1", "301", "1e3", "inf", "x", "", "1.2.3", "%00", "9" * 40):
            check(b"seconds: " in server.get("/debug/pprof/profile?seconds=" + seconds, 400), seconds)
        check_equal(server.get("/debug/pprof/profile?seconds=300", method="HEAD"), b"", "HEAD")
        status, headers, _ = server.ask("/metrics", "DELETE")
        check_equal((status, headers["Allow"]), (405, "GET, HEAD"), "DELETE")


def check_same_page(target, folder, page):
    """The report that record writes, but for its data: the same script and style, of which it has the hashes."""
    path = os.path.join(folder, "report.html")
    with Target(default_interpreter(), "undisturbed.py", "--until-eof", stdin=subprocess.PIPE) as other:
        pieprofd("--pid", other.pid, "-d", "1", "-q", "-o", path)
    with open(path) as file:
        report = file.read()
    hashes = re.findall(r"'sha256-[^']+'", report)
    check(hashes and re.findall(r"'sha256-[^']+'", page) == hashes, "another page than the report")
    check("undisturbed.py" in page and str(target.pid) in page, "the page is of something else")
    # Made while sampling goes on, it has source lines and time over time like any other.
    check("g[f] += d[i, j, f] * r" in page, "the page has no source lines")


def profiles_answered(server):
    """How many were asked for and have their answer, or nobody to hear it."""
    values, _ = metrics_of(server.get("/metrics").decode())
    return sum(value for (name, labels), value in values.items()
               if name == "pieprofd_http_requests_total" and 'endpoint="profile"' in labels)


def ask_for_long(server):
    connection = server.raw()
    connection.send(b"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def windows_open(server):
    return metrics_of(server.get("/metrics").decode())[0]["pieprofd_windows_open", None]


def check_gone(server):
    """The window of a client that has gone is closed, and its place is free."""
    # While they wait.
    staying = [ask_for_long(server) for _ in range(8)]
    wait_until(lambda: windows_open(server) == 8, what="windows to be opened")
    for connection in staying:
        connection.close()
    wait_until(lambda: profiles_answered(server) == 8, what="windows of clients that have gone to be closed")
    # Before the server has read what they want.
    for _ in range(12):
        ask_for_long(server).close()
    wait_until(lambda: profiles_answered(server) == 20, what="the answers to clients that went at once")
    check_equal(windows_open(server), 0, "windows of clients that have gone")


def check_no_descriptor(server):
    """With too few descriptors to see its client go, a request is refused rather than be kept to its end."""
    answered = profiles_answered(server)
    # The connection that asked may outlive its answer: all but the listening socket go first.
    wait_until(lambda: server.sockets() == 1, what="connections to be closed")
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    # Sampling opens files for a moment: what stays is used.
    used = server.files()
    for _ in range(5):
        time.sleep(0.02)
        used &= server.files()
    # The connection itself gets the last one.
    last = next(number for number in range(limits[0]) if number not in used)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (last + 1, limits[1]))
    try:
        with ask_for_long(server) as connection:
            check_equal(connection.recv(1), b"", "what is said without a descriptor")
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, limits)
    check_equal((windows_open(server), profiles_answered(server)), (0, answered), "windows open, profiles answered")


def test_clients():
    """Slow ones, ones that vanish, malformed and hostile requests: nobody else waits, nothing grows."""
    with served() as (_, server), concurrent.futures.ThreadPoolExecutor(1) as pool:
        dribbler = pool.submit(dribble, server.raw())
        # Ask, and read nothing of the answer.
        slow = [server.raw() for _ in range(3)]
        for connection, path in zip(slow, (b"/", b"/metrics", b"/debug/pprof/")):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.send(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
        check_gone(server)
        check_confined(server)
        check_too_many(server)
        check_hosts(server)
        fuzz(server, 300)
        check_flat(server)
        for connection in slow:
            connection.close()
        # However it dribbles, its time ends.
        check(dribbler.result() < 30, "a request may take for ever")
        check_no_descriptor(server)
        metrics = metrics_of(server.get("/metrics").decode())[0]
        check(metrics["pieprofd_http_slow_connections_total", None] >= 1, "no slow connection was counted")


def dribble(connection):
    """A request that never ends, until it is cut or takes too long; for how many seconds."""
    began = time.monotonic()
    with connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: loc")
        while time.monotonic() - began < 30 and not is_cut(connection, seconds=0.2):
            with contextlib.suppress(OSError):
                connection.send(b"a")
        return time.monotonic() - began


def is_cut(connection, seconds):
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except socket.timeout:
        return False
    except OSError:
        return True


def check_confined(server):
    """Threads that answer have a filter of system calls; the one that samples has none."""
    modes = []
    for tid in os.listdir("/proc/%d/task" % server.process.pid):
        # One that has answered may end meanwhile.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open("/proc/%d/task/%s/status" % (server.process.pid, tid)) as file:
            modes += [line.split()[1] for line in file if line.startswith("Seccomp:")]
    check("0" in modes and ("2" in modes or sanitized()), "filters of the daemon's threads: %s" % modes)


def check_too_many(server):
    """Clear words beyond the limit; and the places are free again."""
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: server.ask("/debug/pprof/profile?seconds=1"), range(12)))
    statuses = sorted(answer[0] for answer in answers)
    check(set(statuses) <= {200, 503} and statuses.count(200) >= 8, "statuses: %r" % statuses)
    for status, headers, body in answers:
        check(status == 200 or (b"try again" in body and headers["Retry-After"]), "%d: %r" % (status, body[:100]))
    server.get("/debug/pprof/profile?seconds=0.01")


def window_when_there_is_room(server, seconds):
    """The statuses that came before it."""
    refused = []
    while (status := server.ask("/debug/pprof/profile?seconds=%g" % seconds)[0]) == 503:
        refused.append(status)
        time.sleep(0.1)
    return refused + [status]


def test_windows_have_a_limit():
    """As many as docs/SECURITY.md says; one more gets clear words, and a place when one is free."""
    def is_open():
        return metrics_of(server.get("/metrics").decode())[0]["pieprofd_windows_open", None]

    with served() as (_, server), concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(window_when_there_is_room, server, 6) for _ in range(8)]
        wait_until(lambda: is_open() == 8, seconds=20, what="eight windows")
        status, headers, body = server.ask("/debug/pprof/profile?seconds=0.01")
        check_equal((status, is_open()), (503, 8), "one more got %r, windows" % body[:100])
        check(b"8 profiles" in body and b"try again" in body and headers["Retry-After"], "%r" % body)
        check_equal([answer.result()[-1] for answer in answers], [200] * 8, "the eight's")
        check_equal(window_when_there_is_room(server, 0.01), [200], "a ninth after them")


def test_connections_have_a_limit():
    """As many as docs/SECURITY.md says, held open; those beyond are closed, and places are free again."""
    with served() as (_, server):
        held = [server.raw() for _ in range(64)]
        for connection in [server.raw() for _ in range(3)]:
            with connection:
                check(is_cut(connection, seconds=20), "one beyond the limit is open")
        check(not any(is_cut(connection, seconds=0.01) for connection in held), "one of those allowed is closed")
        held.pop().close()
        wait_until(lambda: healthy(server), seconds=20, what="the place that is free")
        for connection in held:
            connection.close()


def healthy(server):
    with contextlib.suppress(OSError, http.client.HTTPException):
        return server.ask("/healthz")[0] == 200
    return False


def check_hosts(server):
    for host in ("localhost", "localhost:8080", "127.0.0.1", "[::1]:6061", "[::1]", "127.1.2.3:1"):
        server.get("/healthz", Host=host)
    for host in ("attacker.example", "attacker.example:6061", "localhost.attacker.example", "127.0.0.1.example", "",
                 "0.0.0.0", "192.168.1.1", "localhost:x", "x" * 300):
        check(b"loopback" in server.get("/", 403, Host=host), host)
    for path in ("/control/status", "/control/stop", "/control/start", "/control/snapshot"):
        method = "GET" if path.endswith("status") else "POST"
        check(b"Unix socket" in server.get(path, 403, method=method), path)
        server.get(path, 403, method=method, Authorization="Bearer " + TOKEN)


REQUESTS = (
    b"GET /debug/pprof/profile?seconds=0.01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
    b"POST /control/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
    b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
    b"HEAD / HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n",
    b"GET /healthz?seconds=%31%00&seconds=2&=&&a HTTP/1.1\r\nHost: [::1]:1\r\nAuthorization: Bearer abc\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\nGET /debug/fgprof?seconds=.01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
)
BITS = (b"\r\n", b"\0", b"\xff\xfe", b"A" * 20000, b"%", b"../", b": ", b" ", b"-1", b"999999999999999999999", b"\t",
        b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/9.9", b"?", b"&" * 500)


def mutate(chance, request):
    request = bytearray(request)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(request) + 1)
        kind = chance.randrange(4)
        if kind == 0 and request:
            request[at % len(request)] = chance.randrange(256)
        elif kind == 1:
            del request[at:at + chance.randint(1, 20)]
        elif kind == 2:
            request[at:at] = chance.choice(BITS)
        else:
            request[at:at] = chance.choice(REQUESTS)[:chance.randint(1, 60)]
    return bytes(request)


def fuzz(server, count):
    chance = random.Random(8)
    statuses = set()
    for number in range(count):
        with server.raw() as connection:
            connection.settimeout(0.1)
            with contextlib.suppress(OSError):
                connection.sendall(mutate(chance, chance.choice(REQUESTS)))
                if number % 2:
                    connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(64)
                if answer.startswith(b"HTTP/1."):
                    statuses.add(int(answer.split()[1]))
        if number % 50 == 0:
            server.get("/healthz")
    check_equal(server.get("/healthz"), b"sampling\n", "/healthz after %d hostile requests" % count)
    check(len(statuses) > 4 and 200 in statuses, "statuses seen: %r" % statuses)
    check(not statuses & {500}, "statuses seen: %r" % statuses)


def check_flat(server):
    """Neither memory nor descriptors grow with the number of windows and pages."""

    def rounds(count):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            jobs = [pool.submit(server.get, path) for _ in range(count)
                    for path in ("/debug/pprof/profile?seconds=0.02", "/debug/fgprof?seconds=0.02", "/")]
            for job in jobs:
                job.result()

    def settled():
        # Connections are closed a moment after their answer.
        wait_until(lambda: metrics_of(server.get("/metrics").decode())[0]["pieprofd_http_connections", None] <= 6,
                   what="connections to be closed")
        return server.memory(), len(server.files())

    rounds(8)
    memory, files = settled()
    rounds(16)
    memory_after, files_after = settled()
    # What is freed stays in AddressSanitizer's quarantine for a while.
    check(sanitized() or memory_after < 1.25 * memory, "memory went from %d to %d kB" % (memory, memory_after))
    check(files_after <= files + 4, "descriptors went from %d to %d" % (files, files_after))


def test_control():
    """Through a Unix socket: start, stop, status, snapshot; and a session that gives way to the next."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(path)
        with served("--rotate", "1", listen="unix:" + path) as (target, server):
            check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the socket")
            # Parts of it are of different sessions.
            raw = raw_profile(folder, server.get("/debug/pprof/profile?seconds=3"))
            check(2.5 < duration(raw) < 6, "a window of 3 s lasted %g s" % duration(raw))
            check_sampled(HOT_LINE.split(":")[0] in raw and "process %d" % target.pid not in raw, raw[:1000])
            metrics = metrics_of(server.get("/metrics").decode())[0]
            check(metrics["pieprofd_rotations_total", None] >= 2, "no rotation")
            check_sampled(metrics["pieprofd_samples_total", None] > 50, "counters begin anew with each session")
            status = json.loads(server.get("/control/status"))
            check_equal((status["state"], status["pid"]), ("sampling", target.pid), "the status")

            server.get("/control/stop", 405)
            check_equal(json.loads(server.get("/control/stop", method="POST"))["state"], "stopped", "state")
            check_equal(status_of(target.pid)["TracerPid"], "0", "tracer of the target while stopped")
            check_equal(server.get("/healthz"), b"stopped\n", "/healthz")
            check(b"/control/start" in server.get("/debug/pprof/profile?seconds=1", 503), "no words")
            # What was seen can still be had.
            snapshot = json.loads(server.get("/control/snapshot?format=json", method="POST"))
            check_equal(snapshot["target"]["pid"], target.pid, "pid of the snapshot")
            recording = os.path.join(folder, "x.pieprof")
            with open(recording, "wb") as file:
                file.write(server.get("/control/snapshot", method="POST"))
            check("undisturbed" in pieprofd("report", recording).stdout, "the snapshot as a report")
            refusal = server.get("/control/snapshot?format=exe", 400, method="POST").decode()
            check_equal(refusal, "format: expected one of text, json, collapsed, pprof, speedscope, firefox, html, "
                        "recording, sarif, github, markdown, jsonl\n", "the refusal of a format")
            # It is refused unread.
            server.get("/control/start", 413, method="POST", Content_Length="4")
            for _ in range(2):
                check_equal(json.loads(server.get("/control/start", method="POST"))["state"], "sampling", "state")
                check(status_of(target.pid)["TracerPid"] != "0", "a start did not attach")
            check(gzip.decompress(server.get("/debug/pprof/profile?seconds=0.1")), "no profile")
            # Threads that answer may not attach: whoever does must be one that may, or this is time alone.
            check(gzip.decompress(server.get("/debug/pprof/redundancy?seconds=0.1")), "no profile")
        check(not os.path.exists(path), "the socket is left behind")


def hear(notify, heard):
    """What comes until there is silence; the queue of a socket is short."""
    notify.settimeout(3)
    with contextlib.suppress(socket.timeout):
        while heard[-1] != b"STOPPING=1":
            heard.append(notify.recv(100))


def test_refusals_and_ends():
    """Addresses and tokens; what systemd is told; the end of the target."""
    with Target(default_interpreter(), "undisturbed.py", "--until-eof", stdin=subprocess.PIPE) as target, \
            tempfile.TemporaryDirectory() as folder:
        token, short = os.path.join(folder, "token"), os.path.join(folder, "short")
        for path, text in ((token, TOKEN), (short, "short")):
            with open(path, "w") as file:
                file.write(text + "\n")
        for arguments, words in (
                (("--listen", "0.0.0.0:0"), "--allow-remote"), (("--listen", "0.0.0.0:0", "--allow-remote"), "token"),
                (("--listen", "0.0.0.0:0", "--allow-remote", "--token-file", short), "16"), ((), "--listen"),
                (("--listen", "nonsense"), "127.0.0.1:6061"), (("--listen", "127.0.0.1:70000"), "127.0.0.1:6061"),
                (("--listen", "unix:" + "x" * 200), "107"), (("--listen", "127.0.0.1:0", "-o", "x.json"), "not of serve"),
                (("--listen", "127.0.0.1:0", "-d", "3"), "--duration")):
            said = pieprofd("serve", "--pid", target.pid, *arguments, code=2).stderr
            check(words in said, "%r: %s" % (arguments, said))
        check("option of serve" in pieprofd("--pid", target.pid, "--listen", "127.0.0.1:0", code=2).stderr, "record")
        check("3999999" in pieprofd("serve", "--pid", 3999999, "--listen", "127.0.0.1:0", code=3).stderr, "no process")

        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(os.path.join(folder, "notify"))
        notify.settimeout(10)
        environment = {"NOTIFY_SOCKET": os.path.join(folder, "notify"), "WATCHDOG_USEC": "200000"}
        with Server(target.pid, "--allow-remote", "--token-file", token, listen="0.0.0.0:0",
                    environment=environment) as server:
            heard = [notify.recv(100) for _ in range(3)]
            check_equal(heard, [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"], "the first notifications")
            listener = threading.Thread(target=hear, args=(notify, heard))
            listener.start()
            server.get("/healthz")
            for path in ("/", "/metrics", "/debug/pprof/profile?seconds=1", "/control/status", "/nothing"):
                for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer " + TOKEN + "x"},
                               {"Authorization": "Bearer "}, {"Authorization": "Basic " + TOKEN},
                               {"Authorization": TOKEN}):
                    status, headers, _ = server.ask(path, **header)
                    check_equal((status, headers["WWW-Authenticate"]), (401, "Bearer"), "%s with %r" % (path, header))
            allowed = {"Authorization": "Bearer " + TOKEN}
            server.get("/metrics", Host="metrics.example", **allowed)
            check_equal(json.loads(server.get("/control/status", **allowed))["state"], "sampling", "state")

            # Who waits for a profile when the target ends gets what there is.
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(server.ask, "/debug/pprof/profile?seconds=60", **allowed)
                wait_until(lambda: json.loads(server.get("/control/status", **allowed))["windows"] == 1)
                target.process.stdin.close()
                target.process.stdin = None
                status, _, body = waiting.result()
            check(status == 200 and gzip.decompress(body), "a profile that the target's end cut short: %d" % status)
            check_equal(server.get("/healthz", 503), b"ended\n", "/healthz")
            server.get("/debug/pprof/profile?seconds=1", 503, **allowed)
            server.get("/control/start", 409, method="POST", **allowed)
            check_equal(server.process.wait(30), 0, "exit code once the target has ended")
            listener.join()
            check_equal(heard[-1], b"STOPPING=1", "the last notification")
        notify.close()
        check("unexpected=0" in target.finish(), "the target noticed")


def test_without_perf_events():
    """Time alone, by readings without stops; what that cannot tell is refused with a reason."""
    with served(prepare=lambda: refuse_call(PERF_EVENT_OPEN, EPERM)) as (target, server):
        check("without stopping them" in server.said, "nobody was told: %r" % server.said)
        check_equal(status_of(target.pid)["TracerPid"], "0", "tracer of the target")
        for path in ("/debug/fgprof", "/debug/pprof/redundancy"):
            check(b"perf events are refused" in server.get(path + "?seconds=0.1", 501), path)
        with tempfile.TemporaryDirectory() as folder:
            text = raw_profile(folder, server.get("/debug/pprof/profile?seconds=2"))
            check_sampled("undisturbed.py" in text, text[:1000])
        samples = metrics_of(server.get("/metrics").decode())[0]["pieprofd_samples_total", None]
        check_sampled(samples > 10, "%d samples" % samples)
