# SPDX-License-Identifier: Apache-2.0
"""Strain sensors of a bridge: packets are put into a database in batches, and after each batch the last hour is looked at for alarms."""

import random
import sqlite3
import struct

from common import run

PACKET = struct.Struct("<HIhhB")
SENSORS, PACKETS, BATCH = 24, 2400, 120
SCHEMA = """
CREATE TABLE reading (sensor INTEGER, second INTEGER, strain REAL, heat REAL, flags INTEGER, PRIMARY KEY (sensor, second)) WITHOUT ROWID;
CREATE TABLE latest (sensor INTEGER PRIMARY KEY, second INTEGER, strain REAL, seen INTEGER);
CREATE TABLE alarm (sensor INTEGER, second INTEGER, strain REAL);
"""
INSERT = "INSERT OR IGNORE INTO reading VALUES (?, ?, ?, ?, ?)"
UPSERT = """
INSERT INTO latest VALUES (?1, ?2, ?3, 1)
ON CONFLICT (sensor) DO UPDATE SET seen = seen + 1, strain = CASE WHEN excluded.second > second THEN excluded.strain ELSE strain END,
  second = max(second, excluded.second)
"""
SPREAD = "SELECT avg(strain), avg(strain * strain), count(*) FROM latest"
LOUD = "SELECT sensor, second, strain FROM latest WHERE abs(strain - ?) > ? ORDER BY sensor"


def packets(rnd):
    """Packets as they come in: a little out of order, some twice."""
    level = [rnd.gauss(0, 40) for _ in range(SENSORS)]
    second = 1_700_000_000 + rnd.randrange(10**6)
    last = b""
    for _ in range(PACKETS):
        second += rnd.randint(0, 2)
        sensor = rnd.randrange(SENSORS)
        level[sensor] = 0.98 * level[sensor] + rnd.gauss(0, 9) + (300 if rnd.random() < 0.003 else 0)
        if not last or rnd.random() > 0.02:
            last = PACKET.pack(sensor, second - rnd.randint(0, 5), int(10 * level[sensor]), rnd.randint(-50, 350), rnd.getrandbits(3))
        yield last


class Store:
    """The batch is one list, filled and emptied again and again."""

    def __init__(self):
        self.link = sqlite3.connect(":memory:")
        self.link.executescript(SCHEMA)
        self.batch = []
        self.short = []

    def add(self, packet):
        sensor, second, strain, heat, flags = PACKET.unpack(packet)
        self.batch.append((sensor, second, strain / 10, heat / 10, flags))
        self.short.append((sensor, second, strain / 10))
        if len(self.batch) == BATCH:
            self.flush()

    def flush(self):
        with self.link:
            self.link.executemany(INSERT, self.batch)
            self.link.executemany(UPSERT, self.short)
            self.watch()
        self.batch.clear()
        self.short.clear()

    def watch(self):
        mean, square, count = self.link.execute(SPREAD).fetchone()
        spread = max(square - mean * mean, 1.0) ** 0.5
        loud = self.link.execute(LOUD, (mean, 2.2 * spread)).fetchall()
        self.link.executemany("INSERT INTO alarm VALUES (?, ?, ?)", loud)

    def close(self):
        if self.batch:
            self.flush()
        alarms = self.link.execute("SELECT sensor, count(*) FROM alarm GROUP BY sensor ORDER BY 2 DESC, 1 LIMIT 3").fetchall()
        hours = self.link.execute("SELECT second / 600 AS part, count(*), max(strain) FROM reading GROUP BY part ORDER BY part").fetchall()
        (rows,) = self.link.execute("SELECT count(*) FROM reading").fetchone()
        self.link.close()
        return rows, alarms, len(hours), hours[-1][2]


def one_pass(number, step):
    store = Store()
    for packet in packets(random.Random(number)):
        store.add(packet)
    return store.close()


if __name__ == "__main__":
    run(one_pass)
