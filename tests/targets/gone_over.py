# SPDX-License-Identifier: Apache-2.0
"""Three ways of going over all again though little has changed: the cheapest job, a median, a name among values.

The data are others in each round. With --fixed there is a heap, a list that is kept sorted, and a set.
"""
import bisect
import heapq

import round_runner


def cheapest(jobs, fixed):
    todo, order = list(jobs), []
    if fixed:
        heapq.heapify(todo)
        return [heapq.heappop(todo)[1] for _ in jobs[:200]]
    for _ in jobs[:200]:
        job = min(todo)
        todo.remove(job)
        order.append(job[1])
    return order


def medians(jobs, fixed):
    last, kept, found = [], [], []
    for job in jobs:
        last.append(job[0])
        if fixed:
            bisect.insort(kept, job[0])
        if len(last) > 200:
            gone = last.pop(0)
            if fixed:
                del kept[bisect.bisect_left(kept, gone)]
        found.append(kept[len(kept) // 2] if fixed else sorted(last)[len(last) // 2])
    return found


def taken(jobs, wanted, fixed):
    desks = {number: job[0] for number, job in enumerate(jobs)}
    if fixed:
        desks = set(desks.values())
        return sum(price in desks for price in wanted)
    count = 0
    for price in wanted:
        count += price in desks.values()
    return count


def go_over(rng, fixed, number):
    jobs = [(rng.randrange(10**6), place) for place in range(600)]
    wanted = [rng.randrange(10**6) for _ in range(400)]
    for work, *given in ((cheapest, jobs), (medians, jobs), (taken, jobs, wanted)):
        # Once: it is the same work.
        if not number and work(*given, False) != work(*given, True):
            return "other results of %s" % work.__name__
        work(*given, fixed)
    return None


round_runner.run("gone_over", __doc__, go_over)
