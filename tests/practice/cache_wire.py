# SPDX-License-Identifier: Apache-2.0
"""A small cache server's end of the wire: commands come as counted strings, are carried out on the store, and answers go back."""

import io
import random
import zlib
from collections import Counter

from common import run


class Wire:
    def __init__(self, stream):
        self.stream = stream

    def line(self):
        line = b""
        while not line.endswith(b"\r\n"):
            piece = self.stream.read(1)
            if not piece:
                return None
            line += piece
        return line[:-2]

    def command(self):
        """The next command as a list of bytes, or None at the end."""
        head = self.line()
        if head is None:
            return None
        words = []
        for _ in range(int(head[1:])):
            length = int(self.line()[1:])
            words.append(self.stream.read(length))
            self.stream.read(2)
        return words


class LineWire(Wire):
    def line(self):
        line = self.stream.readline()
        return line[:-2] if line else None


class Store:
    def __init__(self):
        self.values, self.ends, self.now = {}, {}, 0
        self.counts = Counter()

    def alive(self, key):
        if self.ends.get(key, self.now + 1) <= self.now:
            del self.values[key], self.ends[key]
            self.counts["run out"] += 1
        return self.values.get(key)

    def get(self, key):
        value = self.alive(key)
        self.counts["hit" if value is not None else "miss"] += 1
        return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)

    def set(self, key, value, *more):
        self.values[key] = value
        self.ends.pop(key, None)
        if more:
            self.ends[key] = self.now + int(more[1])
        return b"+OK\r\n"

    def incr(self, key):
        self.values[key] = b"%d" % (int(self.alive(key) or 0) + 1)
        return b":%s\r\n" % self.values[key]

    def mget(self, *keys):
        return b"*%d\r\n" % len(keys) + b"".join(self.get(key) for key in keys)


class Server:
    def __init__(self, kind, store):
        self.kind, self.store = kind, store
        self.handlers = {b"GET": store.get, b"SET": store.set, b"INCR": store.incr, b"MGET": store.mget}
        self.check = 0

    def serve(self, stream):
        wire = self.kind(stream)
        answers = []
        while True:
            words = wire.command()
            if words is None:
                break
            self.store.now += 1
            answers.append(self.handlers[words[0]](*words[1:]))
        self.check = zlib.crc32(b"".join(answers), self.check)


def counted(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def talk(rnd, many):
    for _ in range(many):
        kind = rnd.choice(("GET", "GET", "GET", "SET", "INCR", "MGET"))
        key = "%s:%d" % (rnd.choice(("user", "cart", "page")), rnd.randrange(120))
        if kind == "SET":
            more = ("EX", rnd.randint(5, 500)) if rnd.random() < 0.5 else ()
            yield counted(kind, key, b"%x" % rnd.getrandbits(rnd.randint(8, 400)), *more)
        elif kind == "MGET":
            yield counted(kind, *["page:%d" % rnd.randrange(120) for _ in range(rnd.randint(2, 9))])
        else:
            yield counted(kind, key if kind == "GET" else "hits:%d" % rnd.randrange(50))


def one_pass(number, kind):
    rnd = random.Random(number)
    server = Server(kind, Store())
    for _ in range(6):
        server.serve(io.BytesIO(b"".join(talk(rnd, 300))))
    return server.check, sorted(server.store.counts.items()), len(server.store.values)


if __name__ == "__main__":
    run(one_pass, Wire, LineWire)
