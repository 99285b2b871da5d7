# SPDX-License-Identifier: Apache-2.0
"""A telephone exchange's store: calls are looked up over connections from a pool, more of them as the morning gets busy."""
import collections
import random
import socket

import service

MOST = 32
BUFFER = 400000


class Connection:
    """Both ends of a connection to the store, with a buffer for its answers."""

    def __init__(self, number):
        self.number = number
        self.near, self.far = socket.socketpair()
        self.buffer = bytearray(b"\x01") * BUFFER

    def ask(self, question):
        self.near.sendall(question)
        asked = self.far.recv(4096)
        self.far.sendall(asked[::-1])
        count = self.near.recv_into(self.buffer, 4096)
        return bytes(self.buffer[:count])

    def close(self):
        self.near.close()
        self.far.close()


class Pool:
    def __init__(self):
        self.idle = collections.deque()
        self.made = 0

    def acquire(self):
        """None when MOST are in use."""
        if self.idle:
            return self.idle.popleft()
        if self.made < MOST:
            self.made += 1
            return Connection(self.made)
        return None

    def release(self, connection):
        self.idle.append(connection)

    def close(self):
        while self.idle:
            self.idle.popleft().close()


def serve(pool, wanted, rng):
    """So many calls at the same time, as far as the pool goes."""
    busy = [connection for connection in (pool.acquire() for _ in range(wanted)) if connection]
    answered = sum(len(connection.ask(b"call %d" % rng.randrange(10**6))) for connection in busy)
    for connection in busy:
        pool.release(connection)
    return answered


def main():
    rng = random.Random(109)
    pool = Pool()
    answered = 0
    for number in service.rounds(per_second=20):
        wanted = min(2 + number // 6, MOST + 4) - rng.randrange(2)
        answered += serve(pool, wanted, rng)
    print("connections %d, answered %d bytes" % (pool.made, answered))
    pool.close()


if __name__ == "__main__":
    main()
