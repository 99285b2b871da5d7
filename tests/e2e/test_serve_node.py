# SPDX-License-Identifier: Apache-2.0
"""`serve --all-python`: more processes than may be sampled at a time take turns, none is left out, and new ones need not wait."""

import contextlib
import os
import signal
import subprocess
import tempfile

from harness import PIEPROFD, Skip, check, check_equal, default_interpreter, pieprofd, status_of, wait_until
from test_follow import children
from test_serve import Server, metrics_of

WORK = "import time\nprint('here\\n', end='', flush=True)\nwhile True:\n    sum(range(20000))\n    time.sleep(0.05)\n"
# One for each line, in a pid namespace where there is no other process: nobody else's are touched, and none takes turns from these.
CROWD = 'while read -r _; do "$0" -c "$1" & done'


class Crowd:
    """Python processes in a namespace of their own."""

    def __init__(self, stack):
        if os.geteuid() != 0:
            raise Skip("needs root for a pid namespace")
        self.process = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", CROWD, default_interpreter().path, WORK],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        stack.callback(self.end)

    def begin(self, count):
        self.process.stdin.write("\n" * count)
        self.process.stdin.flush()
        for _ in range(count):
            line = self.process.stdout.readline()
            if line.startswith(("unshare:", "mount:")):
                raise Skip("needs root that may make a pid namespace: %s" % line.strip())
            check_equal(line, "here\n", "what a process says")

    def shell(self):
        return children(self.process.pid)[0]

    def pids(self):
        """As they are numbered out here."""
        return children(self.shell())

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def crowd(count, overhead, *more):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        processes = Crowd(stack)
        processes.begin(count)
        command = ("nsenter", "--target", str(processes.shell()), "--pid", "--mount", PIEPROFD)
        server = stack.enter_context(Server(0, "--all-python", "--mode", "time", "--engine", "ptrace",
                                            "--node-overhead", overhead, *more,
                                            listen="unix:" + folder + "/s", command=command))
        yield processes, server
        os.kill(children(server.process.pid)[0], signal.SIGTERM)
        check_equal(server.process.wait(30), 0, "exit code of serve")


def figures(server, *names):
    values = metrics_of(server.get("/metrics").decode())[0]
    return [values["pieprofd_" + name, None] for name in names]


def test_all_take_turns():
    # As much as it likes, so that the test is short: the budget has a test of its own. More than there are places for.
    with crowd(34, "100%") as (processes, server):
        missing = set(processes.pids())

        def all_seen():
            missing.difference_update([pid for pid in missing if status_of(pid)["TracerPid"] != "0"])
            return not missing
        wait_until(all_seen, 60, "all to be sampled")
        sampled, limit = figures(server, "processes", "processes_limit")
        check(sampled <= limit == 32, "%d sessions, %d at most" % (sampled, limit))


def test_newcomer():
    """It comes before those that wait, of which each turn takes seconds to pay for; by the daemon's own account."""
    with crowd(30, "1%") as (processes, server):
        wait_until(lambda: figures(server, "sessions_total")[0] >= 2, 30, "turns")
        for number in (1, 2):
            processes.begin(1)
            before, = figures(server, "sessions_total")
            # Not asked for all the time: the budget pays for each answer, too.
            wait_until(lambda: figures(server, "newcomer_wait_seconds_count")[0] >= number, 30,
                       "the new process to be sampled", interval=0.5)
            after, waiting = figures(server, "sessions_total", "processes_over_limit")
            # It is known after three looks; each of these may begin a turn or two, where there was no time to look for long.
            check(after - before <= 1 + 6, "%d others before it" % (after - before - 1))
            check(waiting >= 15, "%d others still wait" % waiting)


def test_refusals():
    for words, said in ((("--all-python", "--name", "x"), "takes no --name"), (("--node-overhead", "1%", "--pid", "1"), "goes with"),
                        (("--all-python", "--node-overhead", "0"), "machine's time")):
        output = pieprofd("serve", *words, "--listen", "unix:" + os.devnull, code=2).stderr
        check(said in output, output)
