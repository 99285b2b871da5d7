# SPDX-License-Identifier: Apache-2.0
"""MPI calls as events: what a trace says of a job is what the job says of itself, and the job does not notice."""
import collections
import contextlib
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

import paraver
import track_events
from harness import (PIEPROFD, TARGETS, TARGETS_IN_ROOT, Daemon, Skip, check, check_equal, check_sampled, default_interpreter,
                     find_interpreters, pieprofd, wait_until, with_packages)
from test_launchers import MPI_ENVIRONMENT, program

RANKS, SLOW = 4, 2
# 98 messages each: PIEPROFD_TEST_ROUNDS=1025 is a job of 100,000, of two minutes.
ROUNDS, FEWER = int(os.environ.get("PIEPROFD_TEST_ROUNDS", "105")), 40
# Of the metrics, which are shares: two points.
POINTS = 0.02


def job(folder, rounds):
    """The command of a job with planted faults, and its environment."""
    if os.geteuid():
        raise Skip("needs root")
    interpreter = with_packages(default_interpreter(), "mpi4py")
    words = [program("mpirun"), "-n", str(RANKS), interpreter.path, os.path.join(TARGETS, "ranks.py"), folder,
             str(rounds)]
    return words, dict(os.environ, **MPI_ENVIRONMENT, **interpreter.environment)


def accounts(folder):
    """What each rank says of itself, and all messages that were sent: from, to, tag, size."""
    found = []
    for rank in range(RANKS):
        with open(os.path.join(folder, "rank-%d.json" % rank), encoding="utf-8") as file:
            found.append(json.load(file))
    sent = collections.Counter((rank, *message) for rank in range(RANKS) for message in found[rank]["sent"])
    received = collections.Counter((message[0], rank, *message[1:]) for rank in range(RANKS)
                                   for message in found[rank]["received"])
    check_equal(sent, received, "messages, by their senders and receivers")
    return found, sent


def check_metrics(said, found):
    useful = [account["useful_s"] for account in found]
    run = max(account["run_s"] for account in found)
    truth = {"load_balance": sum(useful) / RANKS / max(useful), "communication_efficiency": max(useful) / run,
             "parallel_efficiency": sum(useful) / RANKS / run}
    for name, value in truth.items():
        # Both by clocks of their own: a rank may be held up between the one and the other.
        check_sampled(abs(said[name] - value) <= POINTS, "%s is %.3f, the program says %.3f" % (name, said[name], value))
    for rank in range(RANKS):
        check_equal(said["ranks"][rank]["rank"], rank, "rank")
        check_sampled(abs(said["ranks"][rank]["useful_ns"] / said["run_ns"] - useful[rank] / run) <= POINTS,
                      "rank %d: useful for %r of %r, the program says %r of %r"
                      % (rank, said["ranks"][rank]["useful_ns"], said["run_ns"], useful[rank], run))


def check_regions(said, found):
    """The lines of main(), with what is computed before each, as the program counts them."""
    regions = {region["path"][0]["line"]: region for region in said["regions"] if region["path"]}
    lines = {line for account in found for line in account["by_line"]}
    check(set(map(str, regions)) <= lines and len(regions) >= 3, "regions at %s, of %s" % (sorted(regions), sorted(lines)))
    for line, region in regions.items():
        sums = [account["by_line"].get(str(line), [0, 0]) for account in found]
        useful, elapsed = [each[0] for each in sums], max(map(sum, sums))
        # What the probes themselves take is more than two points of a short one.
        short = max(account["run_s"] for account in found) / 20
        if elapsed < short:
            continue
        truth = {"load_balance": sum(useful) / RANKS / max(useful), "communication_efficiency": max(useful) / elapsed,
                 "parallel_efficiency": sum(useful) / RANKS / elapsed}
        if max(useful) < short:
            del truth["load_balance"]
        for name, value in truth.items():
            check_sampled(abs(region[name] - value) <= POINTS,
                          "%s of line %d is %.3f, the program says %.3f" % (name, line, region[name], value))
    check_equal(sum(region["useful_ns"] + region["mpi_ns"] for region in said["regions"]), RANKS * said["run_ns"], "all time")


def check_chrome(path, sent):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    check_equal(begins.keys(), ends.keys(), "ids of arrows")
    found = collections.Counter((event["args"]["from"], event["args"]["to"], event["args"]["tag"],
                                 event["args"]["bytes"]) for event in begins.values())
    check_equal(found, sent, "messages of the JSON trace")
    check(all(begins[each]["ts"] <= ends[each]["ts"] for each in begins), "a message was received before it was sent")
    return [event for event in events if event["ph"] == "X"]


def check_perfetto(path, sent, calls):
    trace = track_events.Trace(path)
    check_equal(trace.sends.keys(), trace.receives.keys(), "flows")
    found = collections.Counter(tuple(arguments[name] for name in ("from", "to", "tag", "bytes"))
                                for _, arguments in trace.sends.values())
    check_equal(found, sent, "messages of Perfetto's trace")
    check_equal(collections.Counter(each.name for each in trace.slices),
                collections.Counter(call["name"] for call in calls), "calls of Perfetto's trace")
    check_equal(collections.Counter(each.arguments.get("line") for each in trace.slices),
                collections.Counter(call["args"].get("line") for call in calls), "lines of Perfetto's trace")
    check(abs(sum(each.end - each.begin for each in trace.slices) - sum(call["dur"] * 1000 for call in calls)) < 1e5,
          "sums of times differ")


def check_perfetto_sql(path, sent, calls):
    """By Perfetto's own message classes, in SQL, the sums are those of our JSON, to the nanosecond."""
    interpreter = with_packages(default_interpreter(), "perfetto")
    questions = [
        "select pid, slice.name, count(*), sum(dur) from slice join thread_track on track_id = thread_track.id"
        " join thread using (utid) join process using (upid) where category = 'mpi' group by 1, 2",
        "select sender.int_value, count(*), sum(bytes.int_value) from flow join slice on slice_out = slice.id"
        " join args sender on sender.arg_set_id = slice.arg_set_id and sender.key = 'debug.from'"
        " join args bytes on bytes.arg_set_id = slice.arg_set_id and bytes.key = 'debug.bytes' group by 1",
        "select string_value, sum(dur) from slice join args using (arg_set_id) where key = 'debug.line' group by 1",
    ]
    run = subprocess.run([interpreter.path, os.path.join(os.path.dirname(__file__), "perfetto_tables.py"), path, *questions],
                         env=dict(os.environ, **interpreter.environment), stdout=subprocess.PIPE, check=True)
    by_name, by_sender, by_line = json.loads(run.stdout)
    sums, lines = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for call in calls:
        duration = round(call["dur"] * 1000)
        sums[call["pid"], call["name"]][0] += 1
        sums[call["pid"], call["name"]][1] += duration
        if "line" in call["args"]:
            lines[call["args"]["line"]] += duration
    check_equal({(pid, name): [count, time] for pid, name, count, time in by_name}, dict(sums), "sums by rank and function")
    check_equal(dict(by_line), dict(lines), "sums by line")
    messages = collections.defaultdict(lambda: [0, 0])
    for (sender, _, _, size), count in sent.items():
        messages[sender][0] += count
        messages[sender][1] += count * size
    check_equal({sender: rest for sender, *rest in by_sender}, dict(messages), "messages and bytes by sender")


def check_paraver(path, sent, calls):
    trace = paraver.Trace(path)
    found = collections.Counter((message.sender - 1, message.receiver - 1, message.tag, message.size)
                                for message in trace.messages)
    check_equal(found, sent, "messages of Paraver's trace")
    check(all(message.sent <= message.received for message in trace.messages), "received before it was sent")
    shown = [(event.type, trace.labels[event.type][event.value]) for event in trace.events if event.value]
    names = collections.Counter(name for kind, name in shown if 50000001 <= kind <= 50000003)
    check_equal(names, collections.Counter(call["name"] for call in calls), "calls of Paraver's trace")
    lines = collections.Counter(name for kind, name in shown if kind == 80000001)
    check_equal(lines, collections.Counter("%s (ranks.py)" % re.match(r"ranks.py:(\d+) ", call["args"]["line"]).group(1)
                                           for call in calls if "line" in call["args"]), "lines of Paraver's trace")
    running = sum(state.end - state.begin for state in trace.states if state.state == 1)
    inside = sum(state.end - state.begin for state in trace.states if state.state != 1)
    check(abs(inside - sum(call["dur"] * 1000 for call in calls)) < 1e5 < running, "sums of states")
    check_equal(trace.names["TASK"], ["RANK %d" % rank for rank in range(RANKS)], "names")


def check_lines(said):
    """Each call is said to come from a line that makes this call, by way of the one function through which all go."""
    with open(os.path.join(TARGETS, "ranks.py"), encoding="utf-8") as file:
        source = [""] + file.read().splitlines()
    known = 0
    for path in said["call_paths"]:
        if not path["path"]:
            continue
        inside, caller = path["path"][:2]
        known += path["calls"]
        check_equal([frame["function"] for frame in path["path"] if frame["file"].endswith("ranks.py")][-2:],
                    ["main", "<module>"], "the outermost frames of %r" % path)
        check("result = call(" in source[inside["line"]], "%s comes from %r" % (path["function"], inside))
        name = path["function"][len("MPI_"):].replace("Comm_", "").lower()
        # What mpi4py makes of pickled messages, and what one line does of two.
        names = {"mrecv": "recv", "mprobe": "recv"}
        check(names.get(name, name) in source[caller["line"]].lower(), "%s comes from %r" % (path["function"], caller))
    check(said["calls_without_path"] <= said["calls"] // 20 and known + said["calls_without_path"] == said["calls"],
          "%d of %d calls have a path, %d have none" % (known, said["calls"], said["calls_without_path"]))
    late = said["waits"][0]
    check(late["path"] and late["late_path"] and late["late_path"][0]["function"].endswith("inside"), "%r" % late)


def test_job_from_its_start():
    """The metrics of a job, and every one of its messages: peer, tag and size, in all formats."""
    with tempfile.TemporaryDirectory() as folder:
        words, environment = job(folder, ROUNDS)
        outputs = [os.path.join(folder, "trace" + end) for end in (".json", ".prv", ".perfetto-trace")]
        with Daemon("trace", "--json", *(word for path in outputs for word in ("-o", path)), "--", *words,
                    environment=environment) as daemon:
            run = daemon.finish()
        said = json.loads(run.stdout[run.stdout.index("{"):])
        found, sent = accounts(folder)
        check(sum(sent.values()) > 10000, "only %d messages" % sum(sent.values()))
        check(said["from_beginning"] and said["ranks_known"], "%r" % {name: said[name] for name in said if "_" in name})
        check_metrics(said, found)
        # What the fault planted is, is in no rank's turn: uneven work.
        check_equal(said["split_not_known_as"], None, "why serialisation is not known")
        check(abs(said["serialisation_efficiency"] * said["transfer_efficiency"] - said["communication_efficiency"]) < 1e-3,
              "%r" % {name: said[name] for name in said if "efficiency" in name})
        check_lines(said)
        check_regions(said, found)
        # Four ranks on fewer processors wait for these, too.
        check_sampled(said["held_up_by_rank"] == SLOW, "rank %s is said to hold others up" % said["held_up_by_rank"])
        messages = said["messages"]
        check_equal((messages["matched"], messages["unmatched_sends"], messages["unmatched_receives"]),
                    (sum(sent.values()), 0, 0), "messages matched, and not")
        check_equal(set(said["missing"].values()), {0}, "what is missing")
        calls = check_chrome(outputs[0], sent)
        check_paraver(outputs[1], sent, calls)
        check_perfetto(outputs[2], sent, calls)
        # Last, as this skips the test where the package cannot be had.
        check_perfetto_sql(outputs[2], sent, calls)


def test_files_merged():
    """Each rank traced by a daemon of its own: merged, their files say what one trace of all would."""
    with tempfile.TemporaryDirectory() as folder:
        words, environment = job(folder, FEWER)
        traced = '"$0" trace -q -o "$1/$OMPI_COMM_WORLD_RANK.pietrace" -- "${@:2}"'
        subprocess.run([*words[:3], "bash", "-c", traced, PIEPROFD, folder, *words[3:]], env=environment, check=True,
                       stdout=subprocess.DEVNULL)
        files = sorted(glob.glob(os.path.join(folder, "*.pietrace")))
        check_equal(len(files), RANKS, "files")
        merged = os.path.join(folder, "merged.json")
        said = json.loads(pieprofd("report", *files, "--format", "json", "-o", merged, "-o", merged[:-5] + ".html").stdout)
        found, sent = accounts(folder)
        check(said["from_beginning"] and said["ranks_known"], "%r" % {name: said[name] for name in said if "_" in name})
        check_metrics(said, found)
        check_equal((said["messages"]["matched"], said["messages"]["unmatched_sends"]), (sum(sent.values()), 0), "messages")
        check_lines(said)
        # They were of one machine.
        check_equal([(node["by"], node["offset_ns"]) for node in said["nodes"]], [("first", 0)], "nodes")
        check_chrome(merged, sent)
        run = pieprofd("report", files[0], os.path.join(TARGETS, "ranks.py"), code=2)
        check("is no trace" in run.stderr, "refused with %r" % run.stderr)


TURNS = """
import sys, time
from mpi4py import MPI
world, turns = MPI.COMM_WORLD, int(sys.argv[1])
rank = world.Get_rank()
def compute(seconds):
    begin = time.perf_counter()
    while time.perf_counter() < begin + seconds:
        pass
world.Barrier()
for _ in range(turns):
    if rank:
        world.recv(source=0)
    compute(0.02)
    world.send(None, dest=1 - rank)
    if not rank:
        world.recv(source=1)
world.Barrier()
compute(0.02 * turns)  # at the same time
world.Barrier()
"""


def test_serialisation():
    """Two ranks that compute in turn, and then at once: serialisation is known, and nothing is lost to messages."""
    if os.geteuid():
        raise Skip("needs root")
    interpreter, turns = with_packages(default_interpreter(), "mpi4py"), 25
    with Daemon("trace", "--json", "--", program("mpirun"), "-n", "2", interpreter.path, "-c", TURNS, str(turns),
                environment=dict(os.environ, **MPI_ENVIRONMENT, **interpreter.environment)) as daemon:
        run = daemon.finish()
    said = json.loads(run.stdout[run.stdout.index("{"):])
    check_equal(said["split_not_known_as"], None, "why the split is not known")
    product = said["serialisation_efficiency"] * said["transfer_efficiency"]
    check(abs(product - said["communication_efficiency"]) < 1e-3, "%r" % said)
    check(said["ideal_run_ns"] >= 3 * 0.02e9 * turns, "the ideal run is too short: %r" % said["ideal_run_ns"])
    # Of three times in turn, each rank computes in two; a busy machine takes time from both ranks.
    check_sampled(abs(said["serialisation_efficiency"] - 2 / 3) < 0.1 and said["transfer_efficiency"] > 0.85, "%r" % said)


@contextlib.contextmanager
def running_job(folder, rounds):
    """A job, and the process ids of its ranks, which have begun to send."""
    words, environment = job(folder, rounds)
    with subprocess.Popen(words, env=environment, start_new_session=True) as process:
        try:
            ranks = []

            def all_there():
                ranks[:] = [pid for pid in children(process.pid) if rank_of(pid) is not None]
                begun = [os.path.exists(os.path.join(folder, "began-%d" % rank)) for rank in range(RANKS)]
                return all(begun) and len(ranks) == RANKS

            wait_until(all_there, what="ranks")
            yield process, sorted(ranks, key=rank_of)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def children(pid):
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            found += [int(word) for word in file.read().split()]
    return found


def rank_of(pid):
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            found = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", file.read())
    except OSError:
        return None
    return int(found.group(1)) if found else None


def code_of_send(pid):
    """The first bytes of MPI_Send in the process's memory; empty: it has no such library yet."""
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
            line = next((line for line in file if "/libmpi.so" in line), None)
        if not line:
            return b""
        symbols = subprocess.run(["nm", "-D", line.split()[-1]], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"^([0-9a-f]+) . MPI_Send$", symbols, re.M).group(1), 16)
        with open("/proc/%d/mem" % pid, "rb") as file:
            file.seek(int(line.split("-")[0], 16) + offset)
            return file.read(16)
    except OSError:
        return b""


def test_killed_tracer():
    """The tracer is killed while it traces: the kernel takes its breakpoints out, and the job finishes as ever."""
    with tempfile.TemporaryDirectory() as folder, running_job(folder, FEWER) as (process, ranks):
        before = {pid: code_of_send(pid) for pid in ranks}
        with subprocess.Popen([PIEPROFD, "trace", "--pid", ",".join(map(str, ranks)), "-d", "60"],
                              stdout=subprocess.DEVNULL) as tracer:
            wait_until(lambda: all(code_of_send(pid)[0] == 0xcc for pid in ranks), what="breakpoints")
            tracer.kill()
        wait_until(lambda: {pid: code_of_send(pid) for pid in ranks} == before, what="code as it was before")
        check_equal(process.wait(60), 0, "exit code of the job")
        accounts(folder)


def test_ranks_that_run_already():
    """From the middle of a job: what is matched is right, and ranks are known."""
    with tempfile.TemporaryDirectory() as folder, running_job(folder, FEWER) as (process, ranks):
        path = os.path.join(folder, "trace.json")
        run = pieprofd("trace", "--name", folder, "--all", "-d", "1", "-o", path)
        check("uprobes" in run.stdout.splitlines()[0], "the first line does not say what was done: %r" % run.stdout)
        check("%d ranks" % RANKS in run.stdout and "from the middle" in run.stdout, run.stdout)
        check_equal(process.wait(60), 0, "exit code of the job")
        _, sent = accounts(folder)
        with open(path, encoding="utf-8") as file:
            events = [event["args"] for event in json.load(file)["traceEvents"] if event["ph"] == "s"]
        check(len(events) > 100, "only %d messages" % len(events))
        found = collections.Counter((event["from"], event["to"], event["tag"], event["bytes"]) for event in events)
        check(not found - sent, "messages that nobody sent: %r" % list(found - sent)[:5])
        check_equal(sorted(ranks), sorted(set(ranks)), "ranks")


SPANS = """
import ctypes, gc, json, os, sys, tempfile, threading, time
gc.disable()
print(ctypes.cast(ctypes.CDLL('libc.so.6').fdatasync, ctypes.c_void_p).value, flush=True)
sys.stdin.readline()
def spin(seconds):
    begin = time.perf_counter()
    while time.perf_counter() < begin + seconds:
        pass
    spun.append((begin, time.perf_counter()))
spun = []
said = {"gc": 0, "gc_s": 0.0, "syncs": 0, "syncs_s": 0.0}
for _ in range(20):
    begin = time.perf_counter()
    gc.collect()
    said["gc"], said["gc_s"] = said["gc"] + 1, said["gc_s"] + time.perf_counter() - begin
with tempfile.TemporaryFile() as file:
    for _ in range(30):
        begin = time.perf_counter()
        os.fdatasync(file.fileno())  # HERE
        said["syncs"], said["syncs_s"] = said["syncs"] + 1, said["syncs_s"] + time.perf_counter() - begin
said["slept_s"] = 0.0
for _ in range(10):
    begin = time.perf_counter()
    time.sleep(0.01)  # SLEEP
    said["slept_s"] += time.perf_counter() - begin
threads = [threading.Thread(target=spin, args=(0.5,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
said["both_s"] = min(end for _, end in spun) - max(begin for begin, _ in spun)
said["spun_s"] = sum(end - begin for begin, end in spun)
print(json.dumps(said), flush=True)
sys.stdin.readline()
"""


def is_tracing(tracer, target, address):
    """Its breakpoint is there, and it waits for what comes."""
    with open("/proc/%d/mem" % target.pid, "rb") as file:
        file.seek(address)
        if file.read(1) != b"\xcc":
            return False
    with open("/proc/%d/syscall" % tracer.pid, encoding="ascii") as file:
        return file.read().split()[0] == "230"  # clock_nanosleep


def check_switches(said, truth, slices):
    """What slept is said to have waited in that system call, at its line; and threads that took turns were off."""
    paths = [row for row in said["paths"] if row["system_call"] == "clock_nanosleep" and row["path"]]
    line = next(at for at, line in enumerate(SPANS.splitlines(), 1) if "SLEEP" in line)
    slept = sum(row["ns"] for row in paths if row["path"][0]["line"] == line) / 1e9
    check(slept <= truth["slept_s"], "%r, %r" % (paths, truth))
    check_sampled(slept >= 0.8 * 10 * 0.01, "%r, %r" % (paths, truth))
    check(abs(sum(row["ns"] for row in said["threads"]) - said["ns"]) <= 1, "sums of threads and all: %r" % said)
    check(abs(sum(event["dur"] for event in slices) * 1000 - said["ns"]) < 1e5, "sums of slices and all")
    check_equal(collections.Counter(event["name"] for event in slices),
                collections.Counter({row["what"]: row["count"] for row in said["reasons"]}), "slices by reason")


def test_spans():
    """Calls of a function, collections, and waits for the GIL of a process without MPI: as many as it says, at its lines."""
    if os.geteuid():
        raise Skip("needs root")
    with tempfile.TemporaryDirectory() as folder:
        program, path = os.path.join(folder, "spans.py"), os.path.join(folder, "trace.json")
        with open(program, "w", encoding="utf-8") as file:
            file.write(SPANS)
        with subprocess.Popen([default_interpreter().path, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as target:
            address = int(target.stdout.readline())
            with subprocess.Popen([PIEPROFD, "trace", str(target.pid), "-d", "0", "--json", "--events", "gc,gil,sched,faults",
                                   "--probe", "libc:fdatasync", "-o", path], stdout=subprocess.PIPE, text=True) as tracer:
                try:
                    wait_until(lambda: is_tracing(tracer, target, address), what="breakpoints")
                except Exception:
                    tracer.kill()
                    raise
                target.stdin.write("go\n")
                target.stdin.flush()
                truth = json.loads(target.stdout.readline())
                tracer.send_signal(signal.SIGINT)
                output = json.loads(tracer.communicate()[0])
                said = {span["kind"]: span for span in output["spans"]}
            target.communicate("end\n")
            check_equal(target.returncode, 0, "exit code of the target")
        check_equal((said["gc"]["count"], said["function"]["count"]), (truth["gc"], truth["syncs"]), "spans")
        check(0 < said["gc"]["ns"] <= truth["gc_s"] * 1e9, "%r, %r" % (said["gc"], truth))
        check(0 < said["function"]["ns"] <= truth["syncs_s"] * 1e9, "%r, %r" % (said["function"], truth))
        # While both are there, one of the two threads computes, and the other one waits, or was not let run to do so.
        check(0 < said["gil"]["ns"] / 1e9 <= 2 * truth["spun_s"], "%r, %r" % (said["gil"], truth))
        check_sampled(said["gil"]["ns"] / 1e9 >= 0.25 * truth["both_s"], "%r, %r" % (said["gil"], truth))
        frame = said["function"]["paths"][0]["path"][0]
        check_equal((os.path.basename(frame["file"]), frame["line"]),
                    ("spans.py", next(at for at, line in enumerate(SPANS.splitlines(), 1) if "HERE" in line)), "line")
        with open(path, encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        check_switches(output["off_processor"], truth, [event for event in events if event["cat"] == "sched"])
        faults, said_faults = [event for event in events if event["cat"] == "faults"], output["page_faults"]
        check_equal(collections.Counter(event["name"] for event in faults),
                    collections.Counter({row["what"]: row["count"] for row in said_faults["reasons"]}), "faults by kind")
        check(abs(sum(event["dur"] for event in faults) * 1000 - said_faults["ns"]) < 1e5, "sums of faults and all")
        # Both threads touch stacks that are new.
        check(said_faults["ns"] > 0, "%r" % said_faults)
        names = collections.Counter(event["name"] for event in events if event["cat"] not in ("sched", "faults"))
        check_equal({name: names[name] for name in names if name != "GIL wait"},
                    {"garbage collection": truth["gc"], "libc:fdatasync": truth["syncs"]}, "slices")


def sleeps(process):
    """It looks at its targets, and waits for what comes."""
    with open("/proc/%d/syscall" % process.pid, encoding="ascii") as file:
        return file.read().split()[0] == "230"  # clock_nanosleep


def traced_functions(interpreter, *options, program="called.py"):
    """What the program has noted of its functions, what is said of them, and their slices."""
    environment = dict(os.environ, PIEPROFD_TEST_BIND="%s:%s" % (TARGETS, TARGETS_IN_ROOT), **interpreter.environment)
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            interpreter.command(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            cwd=interpreter.folder()) as target:
        output = os.path.join(folder, "trace.json")
        check_equal(target.stdout.readline(), "ready\n", "first line")
        with subprocess.Popen([PIEPROFD, "trace", str(target.pid), "-d", "0", "--json", "-o", output, *options],
                              stdout=subprocess.PIPE, text=True) as tracer:
            try:
                wait_until(lambda: sleeps(tracer), what="the tracer")
            except Exception:
                tracer.kill()
                raise
            target.stdin.write("go\n")
            target.stdin.flush()
            notes = json.loads(target.stdout.readline())
            tracer.send_signal(signal.SIGINT)
            said = json.loads(tracer.communicate()[0])["python_functions"]
        target.communicate("end\n")
        check_equal(target.returncode, 0, "exit code of the target")
        with open(output, encoding="utf-8") as file:
            return notes, said, [event for event in json.load(file)["traceEvents"] if event.get("cat") == "python"]


def check_functions(version, notes, said, slices):
    """Each call is there once, from when it had begun to when it was left, by one and the same clock."""
    spans, noted = collections.defaultdict(list), collections.defaultdict(dict)
    if version < (3, 11):  # There a code object does not know its class.
        notes = [(name.rpartition(".")[2], *rest) for name, *rest in notes]
    for event in slices:
        if event["args"].get("returned", True) and not event["args"].get("began_before"):
            begin = round(event["ts"] * 1000)
            spans[event["name"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
    for name, thread, begin, end in notes:
        noted[name, thread][begin] = max(end, noted[name, thread].get(begin, 0))
    # The trace has its own beginning: where it lies, all calls must agree on.
    least, most, early, late = float("-inf"), float("inf"), [], []
    for key, begins in noted.items():
        # These also go on without a line of their own.
        if key[0] in ("generator", "delegating", "awaiting"):
            check(len(spans[key]) >= len(begins), "%r: %r, noted were %r" % (key, len(spans[key]), len(begins)))
            continue
        check_equal(len(spans[key]), len(begins), "calls of %s in thread %d" % key)
        for (begin, end), (noted_begin, noted_end) in zip(sorted(spans[key]), sorted(begins.items())):
            least, most = max(least, noted_end - end), min(most, noted_begin - begin)
            early.append(noted_begin - begin)
            late.append(noted_end - end)
    check(least <= most, "calls disagree by %r ns on when the trace began" % (least - most))
    # Half of them are known to some microseconds.
    check_sampled(statistics.median(early) - statistics.median(late) < 100e3, "half of all calls are that long")
    check_equal((said["crossed"], said["unrecorded"], said["pauses"], said["jit_entered"]), (0, 0, 0, 0),
                "calls that are wrong or missing")


def test_python_functions():
    """Calls of Python functions: returned from, yielded from, awaited, raised from, from C, in threads."""
    if os.geteuid():
        raise Skip("needs root")
    known = [found for found in find_interpreters() if (3, 6) <= found.version[:2] <= (3, 15)]
    # The first of each version, and two of 3.11: Debian's is stripped, and has everything in its program.
    chosen = {(found.version[:2], found.version[1] == 11 and found.prefix == "/usr"): found for found in reversed(known)}
    for found in chosen.values():
        check_functions(found.version, *traced_functions(found, "--functions", "*called.py", "--max-overhead", "100%"))


def logged(slices):
    """What the program would have logged, by thread: calls as they are entered and left."""
    threads = collections.defaultdict(list)
    for event in slices:
        begin, name = round(event["ts"] * 1000), event["name"]
        if not event["args"].get("began_before"):
            threads[event["tid"]].append((begin, "enter", name))
        if event["args"].get("returned", True):
            threads[event["tid"]].append((begin + round(event["dur"] * 1000),
                                          "raise" if event["args"].get("raised") else "leave", name))
    return sorted([[what, name] for _, what, name in sorted(events)] for events in threads.values())


def test_nested_python_functions():
    """Where each call enters the evaluation loop: all in the order in which they were entered and left, and how."""
    if os.geteuid():
        raise Skip("needs root")
    known = {found.version[:2]: found for found in find_interpreters() if (3, 6) <= found.version[:2] <= (3, 10)}
    for found in known.values():
        logs, said, slices = traced_functions(found, "--functions", "w_*", "--max-overhead", "100%", program="nested.py")
        for seen, log in zip(logged(slices), sorted(logs)):
            at = next((at for at, (one, other) in enumerate(zip(seen, log)) if one != other), min(len(seen), len(log)))
            check_equal(seen[at:at + 3], log[at:at + 3], "%s: event %d of %d" % (found.path, at, len(log)))
        check_equal((len(logged(slices)), said["crossed"], said["unrecorded"], said["pauses"]), (len(logs), 0, 0, 0),
                    "threads, and calls that are wrong or missing")


def test_some_python_functions():
    """Only those that are asked for; what is left out is counted."""
    if os.geteuid():
        raise Skip("needs root")
    _, said, slices = traced_functions(default_interpreter(), "--functions", "recursive", "--functions", "Odd.*",
                                       "--depth", "4", "--max-overhead", "100%")
    check_equal({row["function"]: row["calls"] for row in said["functions"]},
                {"recursive": 8 * 4, "Odd.__getattr__": 8 * 3, "Odd.__lt__": 8 * 2, "Odd.__del__": 8 * 3}, "calls")
    check_equal({row["function"]: row["raised"] for row in said["functions"]}["Odd.__getattr__"], 8 * 3, "raised")
    check_equal((said["too_deep"], len(slices)), (8 * 17, sum(row["calls"] for row in said["functions"])), "calls left out")
    check_sampled(said["not_asked_for"] > 0, "%r" % said)
    older = next((found for found in find_interpreters() if (3, 6) <= found.version[:2] <= (3, 10)), None)
    if older:
        _, said, slices = traced_functions(older, "--functions", "recursive", "--depth", "4", "--max-overhead", "100%")
        check_equal(([(row["function"], row["calls"]) for row in said["functions"]], said["too_deep"], len(slices)),
                    ([("recursive", 8 * 4)], 8 * 17, 8 * 4), older.path)


def test_span_refusals():
    """What cannot be probed is refused with its reason."""
    if os.geteuid():
        raise Skip("needs root")
    for option, value, code, words in (("--probe", "libc:no_such", 2, "has no function no_such"),
                                       ("--probe", "libnone:f", 3, "has not loaded libnone"),
                                       ("--probe", "libc:vfork", 2, "cannot be traced"),
                                       ("--probe", "fsync", 2, "LIBRARY:FUNCTION"), ("--events", "all", 2, "gc, gil, sched, faults"),
                                       ("--depth", "3", 2, "go with --functions")):
        run = pieprofd("trace", os.getpid(), "-d", "1", option, value, code=code)
        check(words in run.stderr, run.stderr)


def test_refusals():
    """What cannot be traced is refused with its reason, before anything happens."""
    if os.geteuid():
        raise Skip("needs root")
    run = pieprofd("trace", os.getpid(), "-d", "1", code=3)
    check("has no MPI library loaded" in run.stderr, run.stderr)
    run = pieprofd("trace", os.getpid(), "-o", "trace.pdf", code=2)
    check(".prv" in run.stderr, run.stderr)
    run = pieprofd("trace", "--", sys.executable, "-c", "print('works')", code=6)
    check("works" in run.stdout and "called MPI" in run.stderr, run.stdout + run.stderr)
