# SPDX-License-Identifier: Apache-2.0
"""`serve`: looks at heaps by HTTP, how seldom they are, and what of them is in /metrics."""
import os
import tempfile
import time

from harness import Skip, check, check_equal, copy_with, default_interpreter, status_of, wait_until
from test_dump import waiting_target
from test_heap_formats import pprof_stacks, read_pprof
from test_serve import Server, metrics_of

HEAP = "/debug/pprof/heap"


def metrics(server):
    return metrics_of(server.get("/metrics").decode())[0]


def looks(server, result):
    return metrics(server)["pieprofd_heap_looks_total", 'result="%s"' % result]


def fetch(server, path):
    """When the pause behind the last look is over: the seconds that the server names."""
    while True:
        status, headers, body = server.ask(HEAP)
        if status != 429:
            break
        check(b"a tenth of a processor" in body, "a refusal that says %r" % body)
        time.sleep(int(headers["Retry-After"]))
    check_equal(status, 200, "status of the heap, which said %r" % body[:300])
    with open(path, "wb") as file:
        file.write(body)
    return path


def check_metrics(server, rss):
    values = metrics(server)
    parts = sum(value for (name, _), value in values.items() if name == "pieprofd_heap_memory_bytes")
    for bytes_, what in ((parts, "parts of the last look"), (values["pieprofd_target_resident_memory_bytes", None], "in RAM")):
        check(abs(bytes_ - rss) < 0.03 * rss, "%s: %d bytes, expected %d" % (what, bytes_, rss))
    check_equal(values["pieprofd_heap_look_processes", None], 1, "processes of the last look")
    check(0 < values["pieprofd_heap_look_duration_seconds", None] < 60, "its duration")


def check_refusals(server):
    check(b"one moment" in server.get(HEAP + "?seconds=5", 400), "a window of a look")
    check_equal(server.get(HEAP, method="HEAD"), b"", "HEAD")
    before = looks(server, "refused")
    # On a busy machine the pause may be over when the second one arrives.
    for _ in range(20):
        status, headers, body = server.ask(HEAP)
        if status != 200:
            break
    check_equal((status, body.startswith(b"looks at the heap take a tenth")), (429, True), "a look right behind another: %r" % body[:99])
    check(int(headers["Retry-After"]) >= 1, "Retry-After: %s" % headers["Retry-After"])
    check_equal(looks(server, "refused"), before + 1, "refused looks")


def leave_at_once(server, folder):
    """Who goes away while it is looked for him: the next one has his look all the same."""
    fetch(server, os.path.join(folder, "x.pb.gz"))
    before = looks(server, "done") + looks(server, "failed") + looks(server, "refused")
    connection = server.raw()
    connection.send(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\n\r\n")
    connection.close()
    wait_until(lambda: looks(server, "done") + looks(server, "failed") + looks(server, "refused") > before, 30,
               "the request to be taken")
    fetch(server, os.path.join(folder, "x.pb.gz"))


def test_heap():
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        with waiting_target(default_interpreter(), "heap_names.py", "x") as (target, _):
            with Server(target.pid) as server:
                check("pieprofd_heap_memory_bytes" not in server.get("/metrics").decode(), "figures of a look that nobody took")
                stacks = pprof_stacks(fetch(server, os.path.join(folder, "x.pb.gz")))
                items = [count for stack, (count, _) in stacks.items() if len(stack) == 2 and stack[0].startswith("evil;")]
                check_equal(items, [3000], "objects in the list")
                check_refusals(server)
                check_metrics(server, int(status_of(target.pid)["VmRSS"].split()[0]) * 1024)
                leave_at_once(server, folder)
                server.finish()
            check_equal(status_of(target.pid)["TracerPid"], "0", "TracerPid")


def test_heaps_of_several():
    """Without memory for holders, objects in one's allocator are not found."""
    jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
    if not os.path.exists(jemalloc):
        raise Skip("there is no libjemalloc.so.2")
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path = os.path.join(folder, "x.pb.gz")
        with waiting_target(default_interpreter(), "deadlock.py") as (first, _), \
                waiting_target(default_interpreter(), "deadlock.py") as (second, _), \
                waiting_target(copy_with(default_interpreter(), LD_PRELOAD=jemalloc, PYTHONMALLOC="malloc"),
                               "deadlock.py") as (third, _):
            pids = [first.pid, second.pid, third.pid]
            with Server(",".join(map(str, pids)), "--max-memory", "1M") as server:
                wait_until(lambda: metrics(server)["pieprofd_processes", None] == 3, 20, "three processes to be sampled")
                roots = {stack[0] for stack in pprof_stacks(fetch(server, path))}
                check_equal(len(roots), 2, "processes among %s" % sorted(roots))
                for pid in pids[:2]:
                    check([root for root in roots if root.startswith("process %d (" % pid)], "%d is not in %s" % (pid, roots))
                check("process %d: " % third.pid in read_pprof("-comments", path), "nothing is said of the third")
                check(" %d" % first.pid in read_pprof("-tags", path), "no label of the process")
                check_equal(metrics(server)["pieprofd_heap_look_processes", None], 2, "processes of the last look")
                server.finish()
            with Server(third.pid, "--mode", "time", "--max-memory", "1M") as server:
                check(b"memory of jemalloc" in server.get(HEAP, 501), "why there is no look")
                check_equal(looks(server, "failed"), 1, "looks that failed")
                server.finish()
            with Server(first.pid, "--mode", "time", "--max-memory", "1M") as server:
                check_equal({stack[0] for stack in pprof_stacks(fetch(server, path))}, {"[too large to look for holders]"}, "the roots")
                server.finish()
