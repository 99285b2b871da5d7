# SPDX-License-Identifier: Apache-2.0
"""Ranks of an MPI job with planted faults: rank SLOW computes for longer, and sends late.

Each rank keeps account of what it does between MPI_Init and MPI_Finalize: the time that it computes,
and every message that it sends and receives. FOLDER/rank-N.json has that at the end; FOLDER/began-N
is there after the first round.

    mpirun -n 4 python3 ranks.py FOLDER ROUNDS
"""
import json
import os
import random
import sys
import time

import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI  # noqa: E402

COMPUTES_S = 0.025
SLOW, SLOWER = 2, 2.5
MESSAGES = 24  # of a round and rank


def compute(seconds):
    """Work that takes so long, on whatever processor there is: by the clock."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Account:
    def __init__(self):
        self.useful_s = 0.0
        self.by_line = {}  # of main(): useful time before its calls, and time in them
        self.sent, self.received = [], []
        self.began = time.perf_counter()

    def outside(self):
        """Time since MPI was left for the last time is useful."""
        now = time.perf_counter()
        self.useful_s += now - self.began
        self.began = now

    def inside(self, call, *arguments, **named):
        """A call of MPI: what happens before it is useful, the call itself is not."""
        frame, useful_s = sys._getframe(1), self.useful_s
        while frame.f_code.co_name != "main":
            frame = frame.f_back
        sums = self.by_line.setdefault(frame.f_lineno, [0.0, 0.0])
        self.outside()
        called = self.began
        result = call(*arguments, **named)
        self.began = time.perf_counter()
        sums[0] += self.useful_s - useful_s
        sums[1] += self.began - called
        return result


def exchange(world, account, round_number):
    """Messages of all kinds around a ring, with every call that may send or receive one."""
    rank, size = world.Get_rank(), world.Get_size()
    after, before = (rank + 1) % size, (rank - 1) % size
    draw = random.Random(round_number)
    for number in range(MESSAGES):
        tag, count = draw.randrange(1, 1000), draw.randrange(1, 2000)
        kind = number % 6
        data, room = bytearray(8 * count), bytearray(8 * count)
        status = MPI.Status()
        if kind == 0:
            request = account.inside(world.Irecv, [room, count, MPI.DOUBLE], before, tag)
            account.inside(world.Send, [data, count, MPI.DOUBLE], after, tag)
            account.inside(request.Wait)
        elif kind == 1:
            account.inside(world.Sendrecv, [data, MPI.BYTE], after, tag, [room, MPI.BYTE], before, tag)
        elif kind == 2:
            requests = [account.inside(world.Irecv, [room, MPI.BYTE], before, MPI.ANY_TAG),
                        account.inside(world.Isend, [data, MPI.BYTE], after, tag)]
            account.inside(MPI.Request.Waitall, requests, [MPI.Status(), MPI.Status()])
        elif kind == 3:
            request = account.inside(world.Isend, [data, MPI.BYTE], after, tag)
            account.inside(world.Recv, [room, MPI.BYTE], MPI.ANY_SOURCE, tag, status)
            account.inside(request.Wait)
        elif kind == 4:
            request = account.inside(world.isend, bytes(data), after, tag)
            account.inside(world.recv, None, before, tag)
            account.inside(request.wait)
        else:
            requests = [account.inside(world.Isend, [data, MPI.BYTE], after, tag),
                        account.inside(world.Irecv, [room, MPI.BYTE], before, tag)]
            while requests:
                at = account.inside(MPI.Request.Waitany, requests)
                del requests[at]
        # A pickled object is longer than its bytes, by what it says of itself.
        length = 8 * count if kind != 4 else len(MPI.pickle.dumps(bytes(data)))
        account.sent.append([after, tag, length])
        account.received.append([before, tag, length])


def main():
    folder, rounds = sys.argv[1], int(sys.argv[2])
    MPI.Init()
    account = Account()
    began = account.began
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    halves = account.inside(world.Split, rank % 2, -rank)
    for number in range(rounds):
        compute(COMPUTES_S * (SLOWER if rank == SLOW else 1))
        exchange(world, account, number)
        account.inside(world.Barrier)
        # In a communicator of its own, whose ranks are in another order.
        mine = halves.Get_rank()
        if halves.Get_size() > 1:
            account.inside(halves.Send if mine == 0 else halves.Recv, [bytearray(100), MPI.BYTE], 1 - mine, 7)
            (account.sent if mine == 0 else account.received).append([rank - 2 if mine == 0 else rank + 2, 7, 100])
        if number == 0:
            open(os.path.join(folder, "began-%d" % rank), "w", encoding="utf-8").close()
    account.outside()
    run_s = account.began - began
    MPI.Finalize()
    with open(os.path.join(folder, "rank-%d.json" % rank), "w", encoding="utf-8") as file:
        json.dump({"useful_s": account.useful_s, "run_s": run_s, "by_line": account.by_line, "sent": account.sent,
                   "received": account.received}, file)


if __name__ == "__main__":
    main()
