# SPDX-License-Identifier: Apache-2.0
"""Meters that count all the time; each is asked for its tariff, which a few of its attributes tell and which hardly change.

With --fixed tariffs are kept by these.
"""
import round_runner

PLANS = ["night 0.11 day 0.29 peak 0.41", "night 0.14 day 0.22 peak 0.52", "night 0.09 day 0.33 peak 0.38"]
METERS = 10


class Meter(object):
    kept = {}

    def __init__(self, plan, zone):
        self.plan, self.zone, self.changed = plan, zone, 0
        self.used, self.bill, self.readings = 0, 0.0, []

    # What they read counts as what the method reads that asks them.
    def words(self):
        return self.plan.split()

    @property
    def factor(self):
        return 1 + self.zone / 100.0

    def tariff(self):
        words = self.words()
        found = {}
        for hour in range(24):
            name = "night" if hour < 6 else "peak" if 17 <= hour < 21 else "day"
            price = float(words[words.index(name) + 1])
            found[hour] = round(price * self.factor, 6)
        return found

    def known_tariff(self):
        key = self.plan, self.zone
        if key not in Meter.kept:
            Meter.kept[key] = self.tariff()
        return Meter.kept[key]

    def count(self, hour, used, fixed):
        tariff = self.known_tariff() if fixed else self.tariff()
        self.used += used
        self.bill += used * tariff[hour]
        self.readings.append(used)
        if len(self.readings) > 500:
            del self.readings[:]


def read(meters, rng, fixed, number):
    meter = meters[rng.randrange(METERS)]
    if number % 5000 == 0:
        meter.zone = rng.randrange(9)
    hour, used = rng.randrange(24), rng.randrange(1, 40)
    before = meter.bill
    meter.count(hour, used, fixed)
    # Seldom: it is the same work.
    if number % 1000 == 0 and abs(meter.bill - before - used * meter.tariff()[hour]) > 1e-6:
        return "another bill"
    # What else there is to do.
    return None if len("".join(sorted("%d-%d-%d" % (hour, used, i) for i in range(8)))) > 8 else "no receipt"


ALL = [Meter(PLANS[i % 3], i) for i in range(METERS)]
round_runner.run("metered", __doc__, lambda rng, fixed, number: read(ALL, rng, fixed, number))
