# SPDX-License-Identifier: Apache-2.0
"""
A reader of Paraver's traces, written from the format's description: records by time, numbers within what the header
declares, no state before the last one of its thread has ended.
"""
import collections
import re

HEADER = re.compile(r"#Paraver \((\d+/\d+/\d+ at \d+:\d+)\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)$")

State = collections.namedtuple("State", "task thread begin end state")
Event = collections.namedtuple("Event", "task thread time type value")
Message = collections.namedtuple("Message", "sender receiver sent asked received size tag")


class Trace:
    """states, events and messages of PATH; labels: what values of each event type mean, of the .pcf beside it."""

    def __init__(self, path):
        self.states, self.events, self.messages = [], [], []
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        found = HEADER.match(lines[0])
        assert found, lines[0]
        self.duration = int(found.group(2))
        self.processors = sum(int(count) for count in found.group(4).split(","))
        self.threads = [int(task.split(":")[0]) for task in found.group(6).split(",")]
        assert int(found.group(5)) == len(self.threads), lines[0]
        last = 0
        for line in lines[1:]:
            kind, *fields = (int(field) for field in line.split(":"))
            time = self.take(kind, fields, line)
            assert last <= time <= self.duration, "%s comes after %d, of %d" % (line, last, self.duration)
            last = time
        self.check_states()
        self.labels = read_labels(path[:-len(".prv")] + ".pcf")
        self.names = read_names(path[:-len(".prv")] + ".row")

    def thread(self, fields, line):
        """The task and thread that four fields name."""
        processor, application, task, thread = fields
        assert 1 <= processor <= self.processors and application == 1, line
        assert 1 <= task <= len(self.threads) and 1 <= thread <= self.threads[task - 1], line
        return task, thread

    def take(self, kind, fields, line):
        """When the record is."""
        task, thread = self.thread(fields[:4], line)
        if kind == 1:
            begin, end, state = fields[4:]
            assert begin <= end <= self.duration, line
            self.states.append(State(task, thread, begin, end, state))
            return begin
        if kind == 2:
            assert len(fields) >= 7 and len(fields) % 2 == 1, line
            for at in range(5, len(fields), 2):
                self.events.append(Event(task, thread, fields[4], fields[at], fields[at + 1]))
            return fields[4]
        assert kind == 3 and len(fields) == 14, line
        receiver, _ = self.thread(fields[6:10], line)
        assert fields[4] <= fields[5] and fields[10] <= fields[11], line
        self.messages.append(Message(task, receiver, fields[4], fields[10], fields[11], fields[12], fields[13]))
        return fields[4]

    def check_states(self):
        ends = {}
        for state in self.states:
            assert ends.get(state[:2], 0) <= state.begin, state
            ends[state[:2]] = state.end


def read_labels(path):
    labels, types, values = {}, [], False
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split(None, 2)
            if line.startswith("EVENT_TYPE"):
                types, values = [], False
            elif line.startswith("VALUES"):
                values = True
            elif not words:
                types, values = ([], False) if values else (types, values)
            elif values:
                for each in types:
                    labels[each][int(words[0])] = line.split(None, 1)[1].strip()
            elif len(words) == 3 and words[0] == "9":
                types.append(int(words[1]))
                labels[types[-1]] = {}
    return labels


def read_names(path):
    """By level."""
    names, level = {}, None
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["LEVEL"]:
                level, size = words[1], int(words[3])
                names[level] = []
            elif words:
                names[level].append(line.strip())
                assert len(names[level]) <= size, line
    return names
