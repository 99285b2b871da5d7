# SPDX-License-Identifier: Apache-2.0
"""Settings of a fleet of station displays: a common base, a few keys changed for each display, checked and previewed."""

import copy
import hashlib
import random

from runner import run

PAGES = ("departures", "arrivals", "notices", "weather", "map")
TOWNS = ("Alder", "Birch Hill", "Cray", "Dunmoor", "Eastwick", "Fenny Cross", "Gorsley", "Holt")


def base(seed):
    rnd = random.Random(seed)
    return {
        "version": seed,
        "panel": {"width": 1920, "height": 1080, "brightness": {"day": 90, "night": 35}, "orientation": "wide"},
        "network": {"servers": ["10.%d.%d.5" % (rnd.randrange(256), at) for at in range(4)], "retry": [2, 4, 8, 16], "proxy": None},
        "pages": {
            page: {"seconds": rnd.randint(5, 30), "fonts": {"head": rnd.randint(40, 70), "text": rnd.randint(20, 36)}, "columns": [rnd.randint(60, 400) for _ in range(6)]}
            for page in PAGES
        },
        "alerts": [{"code": "E%03d" % at, "colour": rnd.choice(("red", "amber", "blue")), "mail": ["ops%d@rail.example" % rnd.randrange(9)]} for at in range(12)],
        "speech": {"voice": rnd.choice(("anna", "otto")), "volume": 60, "words": {"pl": "platform", "dep": "departs", "del": "delayed", "can": "cancelled"}},
    }


class Display:
    def __init__(self, rnd, number):
        self.name = "D%06d" % number
        self.platform = rnd.randint(1, 24)
        self.indoor = rnd.random() < 0.6
        self.height = rnd.choice((720, 1080, 1440))
        self.pages = rnd.sample(PAGES, 3)


class Fleet:
    def __init__(self, common):
        self.common = common
        self.problems = []

    def start_from(self, display):
        return copy.deepcopy(self.common)

    def settings(self, display):
        made = self.start_from(display)
        made["name"] = display.name
        made["panel"]["height"] = display.height
        made["panel"]["brightness"]["night"] = 35 if display.indoor else 55
        made["speech"]["volume"] = 60 + display.platform % 5
        made["shown"] = display.pages
        return made

    def check(self, settings):
        for page in settings["shown"]:
            wanted = settings["pages"][page]
            if sum(wanted["columns"]) > settings["panel"]["width"] or wanted["fonts"]["text"] * 30 > settings["panel"]["height"]:
                self.problems.append((settings["name"], page))
        return len(self.problems)

    def line(self, settings, departure):
        minute, town, number, late = departure
        words = settings["speech"]["words"]
        state = f"{words['del']} {late} min" if late else "on time"
        return f"{minute // 60:02d}:{minute % 60:02d} {town:<12} {words['pl']} {number:2d} {words['dep']} {state}"

    def preview(self, settings, departures):
        """What the display would show at first, wrapped to its columns."""
        width = max(12, settings["pages"][settings["shown"][0]]["columns"][0] // 8)
        rows = []
        for departure in departures:
            text = self.line(settings, departure)
            rows += [text[at : at + width] for at in range(0, len(text), width)]
        return rows

    def publish(self, display, departures):
        settings = self.settings(display)
        self.check(settings)
        rows = self.preview(settings, departures)
        return hashlib.sha256("|".join([settings["name"], *rows]).encode()).hexdigest()[:16], len(rows)


class FleetFixed(Fleet):
    def start_from(self, display):
        made = dict(self.common)
        made["panel"] = dict(made["panel"])
        made["panel"]["brightness"] = dict(made["panel"]["brightness"])
        made["speech"] = dict(made["speech"])
        return made


def one_pass(number, step):
    rnd = random.Random(number)
    fleet = step(base(number))
    seals, sizes = [], 0
    for at in range(160):
        display = Display(rnd, number * 1_000 + at)
        departures = [(rnd.randrange(300, 1440), rnd.choice(TOWNS), display.platform, max(0, rnd.randint(-20, 12))) for _ in range(36)]
        seal, size = fleet.publish(display, departures)
        seals.append(seal)
        sizes += size
    return seals[-3:], sizes, len(fleet.problems), fleet.problems[:3]


if __name__ == "__main__":
    run(one_pass, Fleet, FleetFixed)
