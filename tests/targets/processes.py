# SPDX-License-Identifier: Apache-2.0
"""
Several processes, each at a line of its own: a parent that forks workers and
waits for them, a multiprocessing pool in spawn mode, a child interpreter, an
exec of itself, many short-lived children. At the end it tells each process's own
CPU time, by pid.
"""
import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import support


def spin(seconds):
    """So much CPU time of this process; less when its parent is killed."""
    end = time.process_time() + seconds
    parent = os.getppid()
    while time.process_time() < end and os.getppid() == parent:
        sum(i * i for i in range(2000))
    return time.process_time()


def forked_worker(number, seconds):
    spin(seconds)  # forked
    os._exit(number)


def pool_worker(seconds):
    spin(seconds)  # pooled
    return os.getpid()


def child_process(seconds):
    spin(seconds)  # child


def executed(seconds):
    spin(seconds)  # executed


def fork_workers(arguments):
    """Like a pre-fork server: workers that end with different codes, one by a signal."""
    pids = []
    for number in range(4):
        pid = os.fork()
        if not pid:
            forked_worker(number, arguments.seconds * (1 + number) / 4)
        pids.append(pid)
    sleeper = os.fork()
    if not sleeper:
        while True:
            signal.pause()
    codes = [os.waitpid(pid, 0)[1] for pid in pids]
    os.kill(sleeper, signal.SIGKILL)
    status = os.waitpid(sleeper, 0)[1]
    problems = [] if status == signal.SIGKILL else ["the sleeper ended with %d" % status]
    if codes != [number << 8 for number in range(4)]:
        problems.append("exit codes %s" % codes)
    return problems, " ".join(map(str, pids))


def run_pool(arguments):
    context = multiprocessing.get_context(arguments.method)
    with context.Pool(2) as pool:
        results = pool.map(pool_worker, [arguments.seconds / 4] * 8, chunksize=1)
        pool.close()
        pool.join()
    return [] if len(results) == 8 else ["%d results" % len(results)], " ".join(map(str, set(results)))


def run_child(arguments):
    child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "child", "--seconds",
                              str(arguments.seconds)], stdout=subprocess.DEVNULL)
    code = child.wait()
    return [] if code == 7 else ["exit code %d of the child" % code], str(child.pid)


def many_children(arguments):
    """Processes that live for a moment, of one that has been there for a while: nobody counts those from before."""
    problems = []
    spin(0.5)
    for number in range(arguments.count):
        pid = os.fork()
        if not pid:
            os._exit(3)
        status = os.waitpid(pid, 0)[1]
        if status != 3 << 8:
            problems.append("child %d ended with %d" % (number, status))
    spin(arguments.seconds)
    return problems, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("fork", "pool", "subprocess", "exec", "many", "child", "executed"))
    parser.add_argument("--seconds", type=float, default=2, help="CPU time of a process")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--method", default="spawn")
    parser.add_argument("--wait", type=float, default=0, help="at most so long for a tracer, before it begins")
    arguments = parser.parse_args()
    if arguments.mode == "child":
        child_process(arguments.seconds)
        sys.exit(7)
    if arguments.mode == "executed":
        executed(arguments.seconds)
        support.finish("processes", [])
        return
    support.ready()
    if arguments.wait:
        support.wait_traced(arguments.wait)
        time.sleep(0.2)  # until all of it is attached
    if arguments.mode == "exec":
        spin(arguments.seconds)  # before exec
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), "executed", "--seconds",
                                  str(arguments.seconds)])
    work = {"fork": fork_workers, "pool": run_pool, "subprocess": run_child, "many": many_children}
    problems, facts = work[arguments.mode](arguments)
    support.finish("processes", problems, facts)


if __name__ == "__main__":
    main()
