# SPDX-License-Identifier: Apache-2.0
"""
What /proc says of processes while a daemon comes and goes: when each was attached to, and its CPU time meanwhile.

    stat read:    .  .  .  |  .  .  .      ...      .  .  .  |  .  .
    TracerPid:    0  0  0     N  N  N                N  N  N     0  0
                        ^before ^first                    ^last  ^after

The time profiled lies between last - first and after - before.
"""
import collections
import os
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
# How often it is looked at first and last, and in between.
CLOSE, FAR = 0.02, 0.25

Look = collections.namedtuple("Look", "when traced user system kept")
# Least and most of what a process used while it was profiled; when it was seen attached to, and what of the time until
# then the daemon was kept waiting for a processor.
Span = collections.namedtuple("Span", "attached kept least most user system")


def look(pid, kept):
    """None when it is gone, or the daemon came or went between two readings."""
    try:
        before = tracer_of(pid)
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rpartition(")")[2].split()
        when = time.monotonic()
        if tracer_of(pid) != before:
            return None
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Look(when, before != 0, int(fields[11]) / TICKS, int(fields[12]) / TICKS, kept)


def kept_waiting(pid):
    """Seconds that its first thread, and of its others the one that waited longest, were ready to run without a CPU."""
    waited = {}
    try:
        for tid in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, tid)) as file:
                waited[int(tid)] = int(file.read().split()[1]) / 1e9
    except (FileNotFoundError, ProcessLookupError):
        pass
    first = waited.pop(pid, 0)
    return first + max(waited.values(), default=0)


def tracer_of(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("TracerPid:"))


def family(pid):
    """A process and all below it."""
    found = [pid]
    for each in found:
        try:
            for tid in os.listdir("/proc/%d/task" % each):
                with open("/proc/%d/task/%s/children" % (each, tid)) as file:
                    found += map(int, file.read().split())
        except FileNotFoundError:
            pass
    return found


class Watch:
    """Looks at processes from entering it to leaving it; `seconds` is for how long they are to be profiled."""

    def __init__(self, pids, seconds):
        self.looks = {pid: [] for pid in pids}
        self.seconds = seconds
        self.daemon = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._work)

    def __enter__(self):
        self.began = time.monotonic()
        self._look()
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self.thread.join()
        self._look()

    def _look(self):
        kept = kept_waiting(self.daemon) if self.daemon else 0
        for pid, looks in self.looks.items():
            seen = look(pid, kept)
            if seen:
                looks.append(seen)

    def _work(self):
        while True:
            since = time.monotonic() - self.began
            if self.ended.wait(FAR if 2 < since < self.seconds - 2 * FAR else CLOSE):
                return
            self._look()

    def span(self, pid):
        """None: it was not seen attached to, or not let go."""
        looks = self.looks[pid]
        traced = [index for index, seen in enumerate(looks) if seen.traced]
        if not traced or traced[0] == 0 or traced[-1] == len(looks) - 1:
            return None
        before, first, last, after = (looks[index] for index in (traced[0] - 1, traced[0], traced[-1], traced[-1] + 1))
        return Span(first.when, before.kept, used(first, last), used(before, after), after.user - before.user,
                    after.system - before.system)

    def used(self, pid):
        """All that was seen of it."""
        looks = self.looks[pid]
        return used(looks[0], looks[-1]) if looks else 0


def used(begin, end):
    return end.user + end.system - begin.user - begin.system
