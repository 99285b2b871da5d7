# SPDX-License-Identifier: Apache-2.0
"""Tachograph cards of lorries: packed days are read back, rests and speeds checked, and what each driver did is summed up."""

import random
import struct
import zlib
from collections import defaultdict

from common import run

HEAD = struct.Struct("<HBI")
DUTY = struct.Struct("<BH")
SPEED = struct.Struct("<HB")
EVENT = struct.Struct("<BHB")
RESTING, DRIVING, LOADING = range(3)
PACE = bytes(40 + round(58 * (at / 255) ** 0.5) for at in range(256))  # how even draws become speeds


def card(rnd, day):
    """One day: records of three kinds and of various lengths, one after the other, packed."""
    parts, minute = [], 0
    while minute < 1_440:
        duty = rnd.choice((RESTING, DRIVING, DRIVING, LOADING))
        length = min(rnd.randint(10, 260), 1_440 - minute)
        parts.append(b"D" + DUTY.pack(duty, length))
        if duty == DRIVING:
            speeds = rnd.randbytes(length // 2).translate(PACE)
            parts.append(b"S" + SPEED.pack(minute, len(speeds)) + speeds)
        if rnd.random() < 0.2:
            note = "".join(rnd.choices("abcdefgh ", k=rnd.randint(4, 40))).encode()
            parts.append(b"E" + EVENT.pack(rnd.randint(1, 9), minute, len(note)) + note)
        minute += length
    return zlib.compress(HEAD.pack(day, len(parts) & 0xFF, rnd.getrandbits(32)) + b"".join(parts))


class Day:
    def __init__(self, number):
        self.number = number
        self.minutes = [0, 0, 0]
        self.stretch = self.longest_drive = self.longest_rest = 0
        self.fast = 0
        self.events = []

    def duty(self, kind, length):
        self.minutes[kind] += length
        if kind == DRIVING:
            self.stretch += length
            self.longest_drive = max(self.longest_drive, self.stretch)
        elif kind == RESTING:
            self.longest_rest = max(self.longest_rest, length)
            if length >= 45:
                self.stretch = 0

    def speeds(self, values):
        """Minutes above the limit count once they are three in a row."""
        streak = 0
        for value in values:
            streak = streak + 1 if value > 86 else 0
            if streak >= 3:
                self.fast += 1


def read(packed):
    data = zlib.decompress(packed)
    number, _, _ = HEAD.unpack_from(data)
    day, at = Day(number), HEAD.size
    while at < len(data):
        kind, at = data[at], at + 1
        if kind == ord("D"):
            day.duty(*DUTY.unpack_from(data, at))
            at += DUTY.size
        elif kind == ord("S"):
            _, count = SPEED.unpack_from(data, at)
            at += SPEED.size
            day.speeds(data[at : at + count])
            at += count
        else:
            code, minute, length = EVENT.unpack_from(data, at)
            at += EVENT.size
            day.events.append((code, minute, data[at : at + length].decode()))
            at += length
    return day


class Office:
    def __init__(self):
        self.faults = defaultdict(list)
        self.totals = defaultdict(lambda: [0, 0, 0])

    def check(self, driver, day):
        if day.longest_drive > 270:
            self.faults[driver].append("day %d: %d min without a rest" % (day.number, day.longest_drive))
        if day.minutes[DRIVING] > 600 or day.longest_rest < 120:
            self.faults[driver].append("day %d: %d min driven, %d rested" % (day.number, day.minutes[DRIVING], day.longest_rest))
        if day.fast > 150:
            self.faults[driver].append("day %d: %d min too fast" % (day.number, day.fast))
        self.totals[driver] = [old + new for old, new in zip(self.totals[driver], day.minutes)]


def one_pass(number, step):
    rnd = random.Random(number)
    office, notes = Office(), 0
    for driver in range(12):
        for day in range(14):
            found = read(card(rnd, day))
            office.check(driver, found)
            notes += sum(len(note) for _, _, note in found.events)
    return sorted(office.totals.items()), sum(map(len, office.faults.values())), office.faults[3][:2], notes


if __name__ == "__main__":
    run(one_pass)
