# SPDX-License-Identifier: Apache-2.0
"""Bytes that each branch of a package mirror served, from its access log."""

import random
import re
from collections import Counter

from common import run

LINE = re.compile(r'(\S+) \S+ \[([^\]]+)\] "(\w+) (\S+)" (\d{3}) (\d+)')


def make_tree(rng):
    """Owners of parts of the tree; the longest path that fits decides."""
    owners = {"/": "mirror"}
    for distribution in ("debian", "fedora", "arch", "cran", "ctan"):
        owners["/" + distribution + "/"] = distribution
        for part in range(rng.randrange(9, 14)):
            owners["/%s/pool%d/" % (distribution, part)] = "%s-%d" % (distribution, rng.randrange(4))
    return owners


def make_log(rng, owners, count):
    paths = list(owners)
    for minute in range(count):
        path = rng.choice(paths) + "%06x.pkg" % rng.getrandbits(24)
        yield '10.0.%d.%d - [09/Mar/2024:10:%02d] "%s %s" %d %d' % (
            rng.randrange(256),
            rng.randrange(256),
            minute % 60,
            rng.choice(("GET", "GET", "HEAD")),
            path,
            rng.choice((200, 200, 206, 404)),
            rng.randrange(10**6),
        )


def parse(lines):
    for line in lines:
        match = LINE.match(line)
        if match:
            address, when, method, path, status, size = match.groups()
            yield address, method, path, int(status), int(size)


def traffic(log, owners):
    served, failed, visitors = Counter(), Counter(), {}
    for address, method, path, status, size in parse(log):
        for prefix in sorted(owners, key=len, reverse=True):
            if path.startswith(prefix):
                owner = owners[prefix]
                break
        visitors.setdefault(owner, set()).add(address)
        if status >= 400:
            failed[owner] += 1
        elif method == "GET":
            served[owner] += size
    return served, failed, visitors


def traffic_fixed(log, owners):
    served, failed, visitors = Counter(), Counter(), {}
    prefixes = sorted(owners, key=len, reverse=True)
    for address, method, path, status, size in parse(log):
        for prefix in prefixes:
            if path.startswith(prefix):
                owner = owners[prefix]
                break
        visitors.setdefault(owner, set()).add(address)
        if status >= 400:
            failed[owner] += 1
        elif method == "GET":
            served[owner] += size
    return served, failed, visitors


def one_pass(number, tally):
    rng = random.Random(number)
    owners = make_tree(rng)
    served, failed, visitors = tally(make_log(rng, owners, 7000), owners)
    return served.most_common(), sorted(failed.items()), sorted((k, len(v)) for k, v in visitors.items())


if __name__ == "__main__":
    run(one_pass, traffic, traffic_fixed)
