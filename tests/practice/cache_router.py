# SPDX-License-Identifier: Apache-2.0
"""Routes a shop platform's requests to cache servers: each shop to the server with the highest draw."""

import functools
import hashlib
import random
from collections import OrderedDict, defaultdict

from common import run

SERVERS = [f"cache-{name}.inner" for name in ("ash", "birch", "cedar", "elm", "fir", "oak")]


def draw(server, shop):
    digest = hashlib.blake2b(f"{server}|{shop}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class Server:
    def __init__(self, room):
        self.room = room
        self.held = OrderedDict()
        self.hits = self.misses = 0

    def fetch(self, page, size):
        if page in self.held:
            self.held.move_to_end(page)
            self.hits += 1
            return 0
        self.misses += 1
        self.held[page] = size
        self.room -= size
        while self.room < 0:
            _, freed = self.held.popitem(last=False)
            self.room += freed
        return size


class Router:
    def __init__(self, draw):
        self.draw = draw
        self.servers = {name: Server(40_000) for name in SERVERS}
        self.traffic = defaultdict(int)
        self.taken = dict.fromkeys(SERVERS, 0)
        self.asked = 0

    def home(self, shop):
        most = self.asked * 3 // 5 + 20  # none takes much more than its share
        free = [server for server in SERVERS if self.taken[server] < most]
        return max(free, key=lambda server: self.draw(server, shop))

    def request(self, shop, page, size):
        name = self.home(shop)
        self.asked += 1
        self.taken[name] += 1
        self.traffic[shop] += self.servers[name].fetch((shop, page), size)
        return name


def one_pass(number, step):
    rnd = random.Random(number)
    router = Router(step())
    shops = [f"shop-{rnd.randrange(10**9)}" for _ in range(9)]
    last = None
    for _ in range(4_000):
        shop = shops[min(int(rnd.expovariate(0.4)), 8)]
        page = f"/p/{int(rnd.paretovariate(1.1)) % 500}"
        last = router.request(shop, page, 80 + len(page) * 37)
    return last, [(server.hits, server.misses) for server in router.servers.values()], sorted(router.traffic.values())


def as_it_is():
    return draw


def kept():
    return functools.lru_cache(maxsize=None)(draw)


if __name__ == "__main__":
    run(one_pass, as_it_is, kept)
