# SPDX-License-Identifier: Apache-2.0
"""A gateway between a plant's meters and its control room: frames come over one socket, are checked, and registers change."""

import random
import socket
import struct
from array import array

from common import run

UNITS, REGISTERS, FRAMES = 6, 64, 700
HEAD = struct.Struct(">BBHH")


def crc_table():
    table = array("H")
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ 0xA001 if byte & 1 else byte >> 1
        table.append(byte)
    return table


TABLE = crc_table()


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ byte) & 0xFF]
    return crc


class Meter:
    """Asks the gateway: some frames read registers, some write, a few are broken on the way."""

    def __init__(self, rnd):
        self.rnd = rnd

    def frame(self):
        rnd = self.rnd
        unit, first = rnd.randrange(UNITS), rnd.randrange(REGISTERS - 8)
        if rnd.random() < 0.6:
            body = HEAD.pack(unit, 3, first, rnd.randint(1, 8))
        else:
            values = [rnd.getrandbits(16) for _ in range(rnd.randint(1, 8))]
            body = HEAD.pack(unit, 16, first, len(values)) + struct.pack(">%dH" % len(values), *values)
        check = crc16(body)
        if rnd.random() < 0.03:
            check ^= 1 << rnd.randrange(16)
        return body + struct.pack("<H", check)


class Gateway:
    """One buffer takes every frame, and one every answer."""

    def __init__(self, link):
        self.link = link
        self.buffer = bytearray(260)
        self.view = memoryview(self.buffer)
        self.registers = [array("H", bytes(2 * REGISTERS)) for _ in range(UNITS)]
        self.broken = self.written = self.read = 0

    def receive(self):
        count = self.link.recv_into(self.view)
        (check,) = struct.unpack_from("<H", self.buffer, count - 2)
        if crc16(self.view[: count - 2]) != check:
            self.broken += 1
            return None
        return HEAD.unpack_from(self.buffer)

    def serve(self):
        asked = self.receive()
        if asked is None:
            return self.answer(b"\xff")
        unit, function, first, count = asked
        mine = self.registers[unit]
        if function == 16:
            mine[first : first + count] = array("H", struct.unpack_from(">%dH" % count, self.buffer, HEAD.size))
            self.written += count
            return self.answer(self.buffer[: HEAD.size])
        self.read += count
        return self.answer(struct.pack(">BBB%dH" % count, unit, function, 2 * count, *mine[first : first + count]))

    def answer(self, body):
        return self.link.send(body + struct.pack("<H", crc16(body)))


def one_pass(number, step):
    control, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with control, link:
        meter, gateway = Meter(random.Random(number)), Gateway(link)
        answers = 0
        for _ in range(FRAMES):
            control.send(meter.frame())
            gateway.serve()
            answers = (answers * 31 + crc16(control.recv(260))) % 1_000_003
    return answers, gateway.broken, gateway.written, gateway.read, [sum(mine) for mine in gateway.registers]


if __name__ == "__main__":
    run(one_pass)
