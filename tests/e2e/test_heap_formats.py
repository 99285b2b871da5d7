# SPDX-License-Identifier: Apache-2.0
"""A look at a heap for other programs: collapsed stacks, pprof's, and what these say beside the JSON of the same look."""
import json
import os
import re
import subprocess
import tempfile

from harness import check, check_equal, go_pprof, pieprofd
from test_dump import waiting_target

COUNT = 5000
PRICES = ("__main__.cache (dict)", "{*} (__main__.Order)", ".lines (list)", "[*] (__main__.Line)", ".price (float)")


def read_pprof(*arguments):
    run = subprocess.run([go_pprof(), *arguments], capture_output=True, text=True, timeout=120, check=False,
                         env=dict(os.environ, PPROF_TMPDIR=tempfile.gettempdir()))
    check_equal(run.returncode, 0, "exit code of pprof, which said %r" % run.stderr[-400:])
    return run.stdout


def pprof_stacks(path):
    """{frames, the root first: (objects, bytes)} by Go's own reader."""
    raw = read_pprof("-raw", path)
    head, rest = raw.split("\nSamples:\n", 1)
    samples, locations = rest.split("\nLocations\n", 1)
    check_equal(samples.splitlines()[0].split(), ["inuse_objects/count", "inuse_space/bytes[dflt]"], "types of samples")
    check("PeriodType: space bytes" in head, head)
    names = dict(re.findall(r"^ +(\d+): 0x0 (?:M=\d+ )?(.*?) :0(?::0)? s=0(?:\(.*\))?$", locations, re.M))
    check(names, "no locations in %r" % locations[:300])
    samples = re.findall(r"^ +(\d+) +(\d+): ([\d ]+)$", samples, re.M)
    return added_up((tuple(names[number] for number in reversed(stack.split())), int(count), int(size))
                    for count, size, stack in samples)


def collapsed_stacks(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
    frames = (([frame for frame in stack.split(";") if not frame.startswith("[container ")], size) for stack, size in lines)
    return {stack: size for stack, (_, size) in added_up((tuple(stack), 0, int(size)) for stack, size in frames).items()}


def added_up(entries):
    """{stack: (objects, bytes)}; several types may have one name."""
    sums = {}
    for stack, count, size in entries:
        before = sums.get(stack, (0, 0))
        sums[stack] = (before[0] + count, before[1] + size)
    return sums


def words_of(step):
    return "%s (%s)" % (step["step"], step["type"]) if step["type"] else step["step"]


def check_stacks(heap, stacks, collapsed):
    check_equal({stack: size for stack, (_, size) in stacks.items() if size}, collapsed, "bytes of collapsed stacks")
    check_equal(stacks[PRICES][0], 2 * COUNT, "objects at %s" % (PRICES,))
    # All that JSON has, with the same figures: of the look itself, and of all below.
    listed = added_up((tuple(map(words_of, holder["path"])), holder["count"], holder["own_bytes"]) for holder in heap["holders"])
    for path in [path for path in listed if path[0] == PRICES[0]]:
        check_equal(stacks[path], listed[path], "objects and bytes at %s" % (path,))
    held = sum(size for stack, (_, size) in stacks.items() if stack[0] == PRICES[0])
    check_equal(held, next(holder["bytes"] for holder in heap["holders"]
                           if [words_of(step) for step in holder["path"]] == [PRICES[0]]), "bytes below the cache")


def test_stacks(one_interpreter):
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        paths = {name: os.path.join(folder, "x" + name) for name in (".json", ".folded", ".pb.gz", ".types.pb.gz")}
        with waiting_target(one_interpreter, "heap_shapes.py", "--count", COUNT) as (target, _):
            pieprofd("heap", target.pid, "-q", *(word for name in (".json", ".folded", ".pb.gz") for word in ("-o", paths[name])))
            pieprofd("heap", target.pid, "-q", "--no-holders", "-o", paths[".types.pb.gz"])
        with open(paths[".json"]) as file:
            heap = json.load(file)["heap"]
        check_stacks(heap, pprof_stacks(paths[".pb.gz"]), collapsed_stacks(paths[".folded"]))
        # Go's reader must not take steps for what C++ has in such brackets.
        top = read_pprof("-top", "-nodefraction=0", "-cum", paths[".pb.gz"])
        check("[*] (__main__.Line)" in top and "<*> (str)" in top, "names are cut in\n%s" % top[:2000])
        check("pid %d" % target.pid in read_pprof("-comments", paths[".pb.gz"]), "no comment on the process")
        types = pprof_stacks(paths[".types.pb.gz"])
        check_equal(types[("[holders not looked for]", "__main__.Line")][0], 2 * COUNT, "objects of a type")
