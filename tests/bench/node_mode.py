#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`serve --all-python` among many processes that do little: are all of them seen, how soon, how often, and for how much.

    tests/bench/node_mode.py [--processes 200] [--groups 20] [--seconds 60] [--share 1%] [--newcomers 5 | --every 10] [--churn 200]
                             [--apart] [--push] [-- OPTION...]

Starts so many Python processes, each of which works for a millisecond every second: workers of pre-fork services, each service in
a control group that is named as a container runtime names it (without, where /sys/fs/cgroup cannot be written), with a service,
version, revision, namespace and pod of its own. Serves the machine for so long, and starts more meanwhile, one after the other:
so many in the second half (--newcomers), or one every so many seconds from the start (--every);
beside a process that forks so many a second, each of which is gone after 0.3 s (--churn). Who has a session is told by TracerPid, ten times a second. Where an engine has no tracer (--engine kernel), turns are known by the
daemon's own account alone, and by what is pushed.
--push has a receiver (tests/e2e/otlp_receiver.py) decode what is pushed every 15 s, and says of how many processes there was a
profile and whether each of its labels was the process's. What follows -- is for serve.

CPU time is that of the daemon with its sender. The processes' own is compared, one by one, with that before and after, without
the daemon. The machine's other Python processes are sampled, too, and take turns from these; with --apart all of it is in a pid
namespace of its own, where there are no others, and nobody else's processes are touched.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from switched import machine, high_water_kib  # noqa: E402  (it finds the harness, too)
from harness import PIEPROFD, default_interpreter, find_packages  # noqa: E402

# Shared libraries as a small service has them; the workers are forked, as a pre-fork server does it.
WORK = """
import collections, ctypes, json, os, random, signal, ssl, sqlite3, sys, threading, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(int(sys.argv[1]) - 1):
    if not os.fork():
        break
os.write(1, b"%d\\n" % os.getpid())
os.close(1)
time.sleep(random.random())
while True:
    ends = time.thread_time_ns() + 1000000
    while time.thread_time_ns() < ends:
        sum(range(100))
    time.sleep(1)
"""
CHURN = """
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if not os.fork():
        time.sleep(0.3)
        os._exit(0)
    time.sleep(1 / float(sys.argv[1]))
"""
LOOK = 0.1
RECEIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "otlp_receiver.py")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def hierarchy():
    """A writable one of control groups; None: there is none."""
    for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"):
        if os.access(path + "/cgroup.procs", os.W_OK):
            return path
    return None


def tracer_of(pid):
    return int(read("/proc/%d/status" % pid).partition("\nTracerPid:")[2].partition("\n")[0] or "0")


class Group:
    """A service in a container. Half of them say what they are as OpenTelemetry has it, the others as Datadog and Kubernetes do."""

    def __init__(self, root, number):
        self.container = "%064x" % (0xfeed0000 + number)
        self.labels = {
            "service.name": "service-%d" % number,
            "service.version": "2.%d" % number,
            "vcs.ref.head.revision": "%040x" % (0xabcd00 + number),
            "k8s.namespace.name": "space-%d" % (number % 5),
            "k8s.pod.name": "service-%d-7c9f6-x%d" % (number, number),
        }
        names = {"service.name": "DD_SERVICE", "service.version": "DD_VERSION", "vcs.ref.head.revision": "DD_GIT_COMMIT_SHA",
                 "k8s.namespace.name": "POD_NAMESPACE", "k8s.pod.name": "POD_NAME"}
        self.environment = {"OTEL_RESOURCE_ATTRIBUTES": ",".join("%s=%s" % pair for pair in self.labels.items())} if number % 2 else {
            names[label]: value for label, value in self.labels.items()}
        self.labels["host.name"] = socket.gethostname()
        if root:
            self.labels.update({"container.id": self.container, "container.runtime.name": "docker"})
        self.path = root and "%s/docker-%s.scope" % (root, self.container)
        if root and number % 3 == 2:
            self.be_pod(root, number)
        if self.path:
            os.makedirs(self.path, exist_ok=True)

    def be_pod(self, root, number):
        """As a kubelet has it, by either of its drivers."""
        uid = "275ecb36-5aa8-4c2a-9c47-%012x" % number
        self.labels.update({"container.runtime.name": "kubernetes", "k8s.pod.uid": uid})
        self.path = root + ("/kubepods.slice/kubepods-pod%s.slice/cri-containerd-%s.scope" % (uid.replace("-", "_"), self.container)
                            if number % 2 else "/kubepods/burstable/pod%s/%s" % (uid, self.container))

    def enter(self):
        if self.path:
            with open(self.path + "/cgroup.procs", "w") as procs:
                procs.write(str(os.getpid()))

    def begin_one(self, python):
        """A process that may still be about to run, and be sampled before it does."""
        began = time.monotonic()
        self.process = subprocess.Popen([python, "-c", WORK, "1"], env=dict(os.environ, **self.environment), preexec_fn=self.enter,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        # It is ended with the others.
        self.process.returncode = 0
        return Watched(self.process.pid, self, began)

    def begin(self, python, count):
        """So many processes, once they run."""
        began = time.monotonic()
        with subprocess.Popen([python, "-c", WORK, str(count)], env=dict(os.environ, **self.environment), preexec_fn=self.enter,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as self.process:
            watched = [Watched(int(line), self, began) for line in self.process.stdout]
            # It is ended with the others.
            self.process.returncode = 0
        return watched


def end_groups(groups):
    for group in groups:
        for _ in range(50):
            with contextlib.suppress(OSError):
                if group.path:
                    os.removedirs(group.path)
                break
            time.sleep(0.1)


class Watched:
    """A process of ours: its turns, as far as they were seen."""

    def __init__(self, pid, group, began):
        self.pid, self.group, self.began = pid, group, began  # before it is made
        self.traced, self.turns, self.first, self.waits = False, 0, None, []
        self.left = self.began  # when its last turn ended

    def look(self, daemon, now):
        tracer = tracer_of(self.pid)
        # A thread of the daemon's; it may have ended by now.
        traced = tracer > 0 and os.path.exists("/proc/%d/task/%d" % (daemon, tracer))
        if traced and not self.traced:
            self.turns += 1
            self.first = self.first if self.first is not None else now - self.began
            self.waits.append(now - self.left)
        elif self.traced and not traced:
            self.left = now
        self.traced = traced


def cpu_seconds(pid):
    """Of a process and its children, grandchildren too."""
    fields = read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12]) if fields else 0
    children = " ".join(read("/proc/%d/task/%s/children" % (pid, tid))
                        for tid in (os.listdir("/proc/%d/task" % pid) if fields else ()))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(cpu_seconds(int(child)) for child in children.split())


def run_ns(watched):
    return [int((read("/proc/%d/schedstat" % one.pid) or "0").split()[0]) for one in watched]


def rates(before, after, took):
    return [(late - early) / 1e9 / took for early, late in zip(before, after)]


def rest(watched, seconds):
    """CPU time that each process takes a second when left alone."""
    began, before = time.monotonic(), run_ns(watched)
    time.sleep(seconds)
    return rates(before, run_ns(watched), time.monotonic() - began)


def resident_mb(pid):
    return int((read("/proc/%d/statm" % pid) or "0 0").split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def metrics(path):
    """Figures of /metrics without labels; none, where there is no answer."""
    with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
        client.settimeout(5)
        client.connect(path)
        client.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
        text = b"".join(iter(lambda: client.recv(1 << 16), b"")).decode()
        lines = [line.split() for line in text.splitlines() if line.startswith("pieprofd_")]
        return {words[0]: float(words[1]) for words in lines if len(words) == 2}
    return {}


def check_labels(log, watched):
    """Of how many processes there were profiles, and what was wrong, a line for each wrong label of a process."""
    by_pid = {one.pid: one.group for one in watched}
    seen, wrong = set(), set()
    for line in read(log).splitlines():
        for profile in json.loads(line).get("profiles", ()):
            resource = profile["resource"]
            group = by_pid.get(resource.get("process.pid"))
            if not group:
                continue
            seen.add(resource["process.pid"])
            wrong.update("%d: %s is %s, not %s" % (resource["process.pid"], label, resource.get(label), value)
                         for label, value in group.labels.items() if resource.get(label) != value)
    return seen, sorted(wrong)


def begin_receiver(stack, folder):
    packages, reason = find_packages(default_interpreter(), "opentelemetry-proto")
    if not packages:
        sys.exit("no receiver: %s" % reason)
    log = os.path.join(folder, "log")
    receiver = subprocess.Popen([default_interpreter().path, RECEIVER, log], stdout=subprocess.PIPE, text=True,
                                env=dict(os.environ, PYTHONPATH=packages))
    stack.callback(receiver.kill)
    return log, ("--push", "http://127.0.0.1:%d" % int(receiver.stdout.readline()), "--push-spool", folder + "/spool")


def newcomers_due(options, since):
    """How many are to have been started by then; the last one has some seconds left, too."""
    if options.every:
        return int(min(since, options.seconds - options.every) / options.every)
    half = options.seconds / 2
    return 0 if since <= half else min(int((since - half) / half * (options.newcomers + 1)) + 1, options.newcomers)


def serve(options, watched, groups, words, path):
    """What the daemon used; newcomers are behind the others in watched."""
    daemon = subprocess.Popen([PIEPROFD, "serve", "--all-python", "--node-overhead", options.share, "--mode", "time", *words],
                              stdin=subprocess.DEVNULL, start_new_session=True)
    began, before = time.monotonic(), run_ns(watched)
    for one in watched:
        one.began = one.left = began
    old, threads, residents = list(watched), 0, []
    half = None
    while (now := time.monotonic()) < began + options.seconds:
        for one in watched:
            one.look(daemon.pid, now)
        if now > began + options.seconds / 2:
            half = cpu_seconds(daemon.pid) if half is None else half
        if len(watched) - len(old) < newcomers_due(options, now - began):
            watched.append(groups[len(watched) % len(groups)].begin_one(options.python))
        threads = max(threads, len(os.listdir("/proc/%d/task" % daemon.pid)))
        residents.append(resident_mb(daemon.pid))
        time.sleep(LOOK)
    took = time.monotonic() - began
    used = {"cpu": cpu_seconds(daemon.pid) / took, "late cpu": (cpu_seconds(daemon.pid) - half) * 2 / took,
            "work": rates(before, run_ns(old), took), "took": took, "threads": threads,
            "peak": high_water_kib(daemon.pid) / 1024, "resident": statistics.median(residents), "metrics": metrics(path)}
    daemon.terminate()
    used["status"] = daemon.wait(60)
    return used


def show_turns(old, new):
    ends = time.monotonic()
    met = [one for one in old if one.turns]
    if not met and not any(one.turns for one in new):
        print("  turns                       not seen: nobody was traced; %d new ones" % len(new))
        return
    waits = [wait for one in old for wait in one.waits]
    print("  sampled at least once       %d of %d" % (len(met), len(old)))
    if met:
        print("  until the first turn        median %.1f s, longest %.1f s" % (
            statistics.median(one.first for one in met), max(one.first for one in met)))
        print("  turns                       %d, each process %d to %d" % (
            len(waits), min(one.turns for one in old), max(one.turns for one in old)))
        print("  between two turns           median %.1f s, longest %.1f s, unfinished %.1f s" % (
            statistics.median(waits), max(waits), max((ends - one.left for one in old if not one.traced), default=0)))
    print("  new ones, first turn after  %s" % ", ".join("%.1f s" % one.first if one.turns else "never" for one in new))
    late = sorted(one.first for one in new if one.turns)
    if late:
        print("  of %d new ones %d sampled    median %.1f s, 9 of 10 at most %.1f s, longest %.1f s" % (
            len(new), len(late), statistics.median(late), late[(len(late) * 9 - 1) // 10], late[-1]))


def show(options, watched, used, bare, log):
    old, new = watched[:options.processes], watched[options.processes:]
    percent = 100 / os.cpu_count()
    more = sorted(1000 * (work - (before + after) / 2) for work, before, after in zip(used["work"], *bare))
    print("%d processes in %d %s, share %s, %.0f s; %s" % (
        len(old), options.groups, "control groups" if hierarchy() else "groups without control groups", options.share,
        used["took"], machine()))
    show_turns(old, new)
    print("  in the end, of all Python   %s sampled, %s wait, of which %s do nothing; %s sessions so far" % tuple(
        "%.0f" % used["metrics"].get("pieprofd_" + name, -1)
        for name in ("processes", "processes_over_limit", "processes_idle", "sessions_total")))
    count, waited, left = (used["metrics"].get("pieprofd_" + name, 0) for name in (
        "newcomer_wait_seconds_count", "newcomer_wait_seconds_sum", "budget_seconds"))
    print("  by its own account          %.0f that came were sampled, after %.2f s on average; %+.3f s of CPU time left" % (
        count, waited / max(count, 1), left))
    print("                              %s" % ", ".join("%.0f within %d s" % (
        used["metrics"].get('pieprofd_newcomer_wait_seconds_bucket{le="%d"}' % bound, 0), bound) for bound in (1, 2, 5, 10, 30, 60)))
    print("  the daemon's CPU time       %.2f%% of the machine, %.2f%% in the second half; exit status %d" % (
        percent * used["cpu"], percent * used["late cpu"], used["status"]))
    print("  its memory, threads         median %.0f MB, peak %.0f MB, %d threads at most" % (
        used["resident"], used["peak"], used["threads"]))
    print("  the processes' CPU time     %.2f%% of the machine, %.2f%% and %.2f%% before and after" % (
        percent * sum(used["work"]), percent * sum(bare[0]), percent * sum(bare[1])))
    print("  more for each, a second     median %+.3f ms, 9 of 10 at most %+.3f ms, most %+.3f ms" % (
        statistics.median(more), more[len(more) * 9 // 10], more[-1]))
    if log:
        seen, wrong = check_labels(log, watched)
        print("  pushed                      profiles of %d of %d processes, %d of %d new ones, %d labels checked, %d wrong" % (
            len(seen), len(watched), sum(one.pid in seen for one in new), len(new),
            sum(len(one.group.labels) for one in watched if one.pid in seen), len(wrong)))
        for line in wrong[:10]:
            print("    " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--share", default="1%")
    parser.add_argument("--newcomers", type=int, default=5)
    parser.add_argument("--every", type=float, help="a newcomer every so many seconds, from the start")
    parser.add_argument("--churn", type=float, help="short-lived processes a second")
    parser.add_argument("--apart", action="store_true", help="in a pid namespace of its own")
    parser.add_argument("--push", action="store_true")
    parser.add_argument("--rest", type=float, default=10, help="seconds without the daemon, before and after")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("words", nargs="*", help="options of serve")
    options = parser.parse_args()
    if options.apart:
        words = [word for word in sys.argv[1:] if word != "--apart"]
        os.execvp("unshare", ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, *words])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with contextlib.ExitStack() as stack:
        folder = tempfile.mkdtemp()
        stack.callback(shutil.rmtree, folder, True)
        groups = [Group(hierarchy(), number) for number in range(options.groups)]
        stack.callback(end_groups, groups)
        watched = []

        def end_processes():
            for one in watched:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
        stack.callback(end_processes)
        for group in groups:
            watched += group.begin(options.python, options.processes // options.groups)
        options.processes = len(watched)
        # They give way to whatever else the machine does; the daemon does not.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as autogroup:
            autogroup.write("10")
        if options.churn:
            churn = subprocess.Popen([options.python, "-c", CHURN, str(options.churn)], stdin=subprocess.DEVNULL)
            stack.callback(churn.kill)
        log, words = begin_receiver(stack, folder) if options.push else (None, ())
        before = rest(watched, options.rest)
        path = folder + "/socket"
        used = serve(options, watched, groups, ("--listen", "unix:" + path, *words, *options.words), path)
        bare = before, rest(watched[:options.processes], options.rest)
        show(options, watched, used, bare, log)


if __name__ == "__main__":
    main()
