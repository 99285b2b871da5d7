# SPDX-License-Identifier: Apache-2.0
"""Controls the pumps of a polder; a new plan is loaded every now and then, and SIGTERM must leave the pumps safe."""
import math
import random
import signal

import service

PUMPS = ("north dike", "windmill", "canal lock")
STEPS = 4800


class Plan:
    """The speed of each pump for every step of a day, made of the tide and the expected rain."""

    def __init__(self, number, rng):
        self.number = number
        rain = rng.uniform(0.0, 12.0)
        self.speeds = {
            pump: [round(200 + 40 * rain + 90 * math.sin(step / STEPS * 4 * math.pi + rank), 1) for step in range(STEPS)]
            for rank, pump in enumerate(PUMPS)
        }

    def at(self, step):
        return {pump: speeds[step % STEPS] for pump, speeds in self.speeds.items()}


class Station:
    def __init__(self):
        self.speed = dict.fromkeys(PUMPS, 0.0)
        self.turned = 0.0

    def follow(self, plan, step):
        self.speed.update(plan.at(step))
        self.turned += sum(self.speed.values()) / 60

    def slow_down(self, plan):
        """Down in ten steps, as the plan's last speeds allow."""
        for _ in range(10):
            for pump in PUMPS:
                self.speed[pump] = min(self.speed[pump], plan.at(STEPS - 1)[pump]) * 0.6


def arm(station, plan):
    """From now on SIGTERM slows the pumps down as this plan wants, and then does what was to be done before."""
    earlier = signal.getsignal(signal.SIGTERM)

    def at_end(number, frame):
        station.slow_down(plan)
        if callable(earlier):
            earlier(number, frame)
        else:
            raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, at_end)


def main():
    rng = random.Random(71)
    station = Station()
    for number in service.rounds(per_second=5):
        plan = Plan(number, rng)
        arm(station, plan)
        for step in range(60):
            station.follow(plan, number * 60 + step)
    print("turned %.0f" % station.turned)


if __name__ == "__main__":
    main()
