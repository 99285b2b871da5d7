# SPDX-License-Identifier: Apache-2.0
"""Sorts the crash reports that an app's users send in: which runtime failed, in whose code, and which reports are the same fault."""

import hashlib
import random
import re
from collections import defaultdict

from common import run

FRAMES = {
    "python": re.compile(r'File "(?P<file>[^"]+)", line \d+, in (?P<name>\w+)'),
    "java": re.compile(r"\bat (?P<file>(?:com|org)\.[\w.]+)\.(?P<name>\w+)\([\w.]+:\d+\)"),
    "native": re.compile(r"#\d+ +0x[0-9a-f]+ in (?P<name>\w+) \((?P<file>[^)]+)\)"),
}
VERSION = re.compile(r"^version: (\d+)\.(\d+)\.(\d+)$", re.M)
OURS = ("shop", "checkout", "basket")
PARTS = ["shop", "checkout", "basket", "urllib", "okhttp", "gson", "render", "zip"]
REPORTS = 130


class Faults:
    """Thirty faults that happen to many people, each with the calls that lead to it."""

    def __init__(self, rnd):
        self.stacks = []
        kinds = list(FRAMES)
        for _ in range(30):
            kind = rnd.choice(kinds)
            depth = rnd.randint(15, 45)
            self.stacks.append((kind, [(rnd.choice(PARTS), f"step{rnd.randint(0, 60)}") for _ in range(depth)]))

    def report(self, rnd):
        kind, stack = rnd.choice(self.stacks)
        yield f"version: {rnd.randint(3, 5)}.{rnd.randint(0, 9)}.{rnd.randint(0, 30)}"
        yield f"memory: {rnd.randint(200, 8000)} MB, battery: {rnd.randint(1, 100)} %"
        yield ""
        for at, (part, name) in enumerate(stack):
            if kind == "python":
                yield f'  File "/app/{part}/{name[:4]}.py", line {rnd.randint(1, 900)}, in {name}'
            elif kind == "java":
                yield f"    at com.{part}.Main.{name}(Main.java:{rnd.randint(1, 900)})"
            else:
                yield f"  #{at} 0x{rnd.getrandbits(40):x} in {name} (lib{part}.so)"
        yield ""
        for _ in range(6):
            yield f"thread {rnd.randint(2, 60)}: {rnd.choice(('waits', 'sleeps', 'runs'))} for {rnd.random():.4f} s"


def runtime(text):
    """The kind whose stack frames the report has."""
    for kind, pattern in FRAMES.items():
        if len(pattern.findall(text)) > 0:
            return kind
    return None


def runtime_fix(text):
    for kind, pattern in FRAMES.items():
        if pattern.search(text):
            return kind
    return None


def top_frames(kind, text, limit=5):
    """The innermost frames, our own first code among them marked."""
    frames = []
    for match in FRAMES[kind].finditer(text):
        frames.append(match.group("file", "name"))
        if len(frames) == limit:
            break
    return frames


def owner(frames):
    for file, _ in frames:
        if any(part in file for part in OURS):
            return "ours"
    return "theirs"


class Triage:
    def __init__(self, runtime_of):
        self.runtime_of = runtime_of
        self.groups = defaultdict(list)
        self.odd = 0

    def take(self, number, text):
        kind = self.runtime_of(text)
        if kind is None:
            self.odd += 1
            return
        frames = top_frames(kind, text)
        print_of = hashlib.blake2s(repr((kind, frames)).encode(), digest_size=6).hexdigest()
        version = tuple(map(int, VERSION.search(text).groups()))
        self.groups[print_of].append((version, number, kind, owner(frames)))

    def worst(self):
        rows = []
        for print_of, found in self.groups.items():
            newest = max(found)
            rows.append((len(found), print_of, ".".join(map(str, newest[0])), newest[2], newest[3]))
        return sorted(rows, reverse=True)


def one_pass(number, runtime_of):
    rnd = random.Random(number)
    faults, triage = Faults(rnd), Triage(runtime_of)
    for at in range(REPORTS):
        triage.take(at, "\n".join(faults.report(rnd)))
    rows = triage.worst()
    return len(rows), triage.odd, rows[:4]


if __name__ == "__main__":
    run(one_pass, runtime, runtime_fix)
