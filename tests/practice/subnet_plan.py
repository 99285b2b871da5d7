# SPDX-License-Identifier: Apache-2.0
"""A planner of branch networks: sites ask for hosts, get the smallest free network that holds them, grow, close, and give it back."""

import ipaddress
import random
from bisect import insort
from dataclasses import dataclass

from common import run

ROOM = 1.25  # every site may grow by a quarter before it has to move


@dataclass
class Site:
    name: str
    hosts: int
    network: ipaddress.IPv4Network = None


def capacity(network):
    return len(list(network.hosts()))


def capacity_fixed(network):
    return network.num_addresses - 2


class Pool:
    """Free networks, in order of size and then of address; halves are joined again when both are free."""

    def __init__(self, network, capacity):
        self.capacity = capacity
        self.free = [self.key(network)]

    def key(self, network):
        return -network.prefixlen, int(network.network_address), network

    def take(self, hosts):
        at = next((at for at, (_, _, network) in enumerate(self.free) if self.capacity(network) >= hosts), None)
        return None if at is None else self.shrunk(self.free.pop(at)[2], hosts)

    def shrunk(self, network, hosts):
        while network.prefixlen < 29:
            lower, upper = network.subnets()
            if self.capacity(lower) < hosts:
                break
            insort(self.free, self.key(upper))
            network = lower
        return network

    def give(self, network):
        while network.prefixlen > 20:
            whole = network.supernet()
            other = next(half for half in whole.subnets() if half != network)
            if self.key(other) not in self.free:
                break
            self.free.remove(self.key(other))
            network = whole
        insort(self.free, self.key(network))


class Plan:
    def __init__(self, pool):
        self.pool = pool
        self.sites = {}
        self.journal = []

    def note(self, what, site):
        self.journal.append(f"{what:<6} {site.name:<8} {site.hosts:>4} {site.network.with_prefixlen if site.network else '-'}")

    def open(self, name, hosts):
        site = Site(name, hosts)
        site.network = self.pool.take(int(hosts * ROOM))
        self.note("open" if site.network else "refuse", site)
        if site.network:
            self.sites[name] = site

    def grow(self, name, hosts):
        site = self.sites[name]
        site.hosts += hosts
        if self.pool.capacity(site.network) < site.hosts:
            self.pool.give(site.network)
            site.network = self.pool.take(int(site.hosts * ROOM))
            self.note("move" if site.network else "lose", site)
            if site.network is None:
                del self.sites[name]

    def close(self, name):
        site = self.sites.pop(name)
        self.pool.give(site.network)
        self.note("close", site)

    def masks(self):
        """Lines for the routers, by address; no network may lie over the next."""
        sites = sorted(self.sites.values(), key=lambda site: site.network.network_address)
        assert all(low.network.broadcast_address < high.network.network_address for low, high in zip(sites, sites[1:]))
        return ["route %s mask %s ! %s" % (site.network.network_address, site.network.netmask, site.name) for site in sites]


def one_pass(number, capacity):
    rnd = random.Random(number)
    plan = Plan(Pool(ipaddress.ip_network("10.%d.16.0/20" % (number % 250)), capacity))
    masks, written = [], 0
    for day in range(160):
        draw = rnd.random()
        if draw < 0.55 or len(plan.sites) < 5:
            plan.open("S%05d" % rnd.randrange(10**5), rnd.choice((4, 9, 20, 40, 90)))
        elif draw < 0.8:
            plan.grow(rnd.choice(sorted(plan.sites)), rnd.randint(1, 12))
        else:
            plan.close(rnd.choice(sorted(plan.sites)))
        if day % 5 == 4:
            masks = plan.masks()
            written += sum(map(len, masks))
    return len(plan.journal), plan.journal[-1], written, masks[0], sum(site.hosts for site in plan.sites.values())


if __name__ == "__main__":
    run(one_pass, capacity, capacity_fixed)
