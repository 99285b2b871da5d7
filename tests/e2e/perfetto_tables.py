# SPDX-License-Identifier: Apache-2.0
"""
Asks a trace of Perfetto's a question in SQL: its packets are read by the message classes that PyPI's perfetto package has
(generated from Perfetto's own .proto files), and laid into tables with the names and columns of Perfetto's trace_processor,
whose program no registry has.

    python3 perfetto_tables.py TRACE SQL...     with perfetto on PYTHONPATH; prints the rows of each as JSON
"""
import json
import sqlite3
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

SCHEMA = """
create table process(upid, pid, name);
create table thread(utid, upid, tid, name);
create table thread_track(id, utid);
create table slice(id, ts, dur, track_id, category, name, arg_set_id);
create table args(arg_set_id, key, int_value, string_value);
create table flow(slice_out, slice_in);
"""


class Tables:
    def __init__(self, path):
        self.database = sqlite3.connect(":memory:")
        self.database.executescript(SCHEMA)
        self.slices, self.args = {}, []
        self.open, self.flows = {}, {}
        trace = Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                self.take_track(packet.track_descriptor)
        packets = [packet for packet in trace.packet if packet.HasField("track_event")]
        for packet in sorted(packets, key=lambda packet: packet.timestamp):
            self.take_event(packet.timestamp, packet.track_event)
        assert not any(self.open.values()), "slices without an end"
        self.database.executemany("insert into slice values(?, ?, ?, ?, ?, ?, ?)", self.slices.values())
        self.database.executemany("insert into args values(?, ?, ?, ?)", self.args)

    def take_track(self, track):
        if track.HasField("process"):
            self.insert("process", track.uuid, track.process.pid, track.process.process_name)
        else:
            self.insert("thread", track.uuid, track.parent_uuid, track.thread.tid, track.thread.thread_name)
            self.insert("thread_track", track.uuid, track.uuid)

    def insert(self, table, *values):
        self.database.execute("insert into %s values(%s)" % (table, ", ".join("?" * len(values))), values)

    def take_event(self, time, event):
        stack = self.open.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            ended = self.slices[stack.pop()]
            ended[2] = time - ended[1]
            return
        number = len(self.slices)
        self.slices[number] = [number, time, 0, event.track_uuid, ",".join(event.categories), event.name, number]
        for annotation in event.debug_annotations:
            text = annotation.string_value if annotation.HasField("string_value") else None
            value = annotation.int_value if annotation.HasField("int_value") else None
            assert text is not None or value is not None, annotation
            self.args.append((number, "debug." + annotation.name, value, text))
        for flow in event.flow_ids:
            self.flows[flow] = number
        for flow in event.terminating_flow_ids:
            self.insert("flow", self.flows.pop(flow), number)
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(number)


def main():
    tables = Tables(sys.argv[1])
    json.dump([tables.database.execute(question).fetchall() for question in sys.argv[2:]], sys.stdout)


if __name__ == "__main__":
    main()
