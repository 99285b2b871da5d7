# SPDX-License-Identifier: Apache-2.0
"""Reads a vibration sensor through its C library and watches a bearing."""

import ctypes
import math

from common import build
from common import run

library = ctypes.CDLL(build())
library.ring_new.restype = ctypes.c_void_p
library.ring_new.argtypes = [ctypes.c_uint64]
library.ring_free.argtypes = [ctypes.c_void_p]
library.ring_poll.argtypes = [ctypes.c_void_p, ctypes.c_int]
library.ring_pop.restype = ctypes.c_double
library.ring_pop.argtypes = [ctypes.c_void_p]

BLOCK = 32


class Sensor:
    def __init__(self, serial):
        self.handle = library.ring_new(serial)

    def block(self):
        library.ring_poll(self.handle, BLOCK)
        return [library.ring_pop(self.handle) for _ in range(BLOCK)]

    def close(self):
        library.ring_free(self.handle)


class Bandpass:
    def __init__(self, low, high):
        self.fast, self.slow = 1 - math.exp(-high), 1 - math.exp(-low)
        self.a = self.b = 0.0

    def feed(self, values):
        out = []
        for value in values:
            self.a += self.fast * (value - self.a)
            self.b += self.slow * (self.a - self.b)
            out.append(self.a - self.b)
        return out


class Bearing:
    def __init__(self, limit):
        self.limit = limit
        self.level = 0.0
        self.alarms = 0

    def watch(self, block):
        peak = max(block) - min(block)
        power = math.fsum(value * value for value in block) / len(block)
        self.level += 0.1 * (math.sqrt(power) - self.level)
        if peak > self.limit * max(self.level, 0.05):
            self.alarms += 1


def one_pass(number, _):
    sensor = Sensor(number)
    bandpass = Bandpass(0.05, 0.9)
    bearing = Bearing(4.6)
    for _ in range(4000):
        bearing.watch(bandpass.feed(sensor.block()))
    sensor.close()
    return bearing.alarms, bearing.level


if __name__ == "__main__":
    run(one_pass)
