# SPDX-License-Identifier: Apache-2.0
"""A reader of Perfetto's traces, as far as they consist of tracks and their events, written from their .proto files."""
import struct


def fields(data):
    """The fields of a protocol buffer message: number, and an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            assert key & 7 == 2, key
            size = varint()
            assert at + size <= len(data), "a field is longer than its message"
            yield key >> 3, data[at:at + size]
            at += size


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def annotation(data):
    found = dict(fields(data))
    return found[10].decode(), found[6].decode() if 6 in found else signed(found[4])


class Slice:
    def __init__(self, begin, name, arguments):
        self.begin, self.name, self.arguments = begin, name, arguments
        self.end = None


class Trace:
    """slices, sends and receives, each with its arguments; processes: names by track."""

    def __init__(self, path):
        self.slices, self.sends, self.receives = [], {}, {}
        self.processes, self.threads = {}, {}
        events = []
        with open(path, "rb") as file:
            for number, packet in fields(file.read()):
                assert number == 1, number
                found = dict(fields(packet))
                assert found[10] == 1, "no sequence"
                if 60 in found:
                    self.take_track(dict(fields(found[60])))
                else:
                    events.append((found[8], len(events), found[11]))
        open_slices = {}
        for time, _, event in sorted(events, key=lambda event: event[:2]):
            self.take_event(time, list(fields(event)), open_slices)
        assert not any(open_slices.values()), "slices without an end"

    def take_track(self, track):
        if 3 in track:
            self.processes[track[1]] = dict(fields(track[3]))[6].decode()
        else:
            assert track[5] in self.processes, track
            self.threads[track[1]] = track[5]

    def take_event(self, time, event, open_slices):
        found = dict(event)
        track, arguments = found[11], dict(annotation(value) for number, value in event if number == 4)
        assert track in self.threads, found
        stack = open_slices.setdefault(track, [])
        if found[9] == 1:
            assert not stack, "a slice in a slice"
            stack.append(Slice(time, found[23].decode(), arguments))
        elif found[9] == 2:
            self.slices.append(stack.pop())
            self.slices[-1].end = time
        else:
            assert stack, "a message outside of a call"
            (self.sends if 47 in found else self.receives)[found.get(47) or found[48]] = (time, arguments)
