# SPDX-License-Identifier: Apache-2.0
"""A bus company's timetable leaves the house as XML: journeys by line and day, with their stops, footnotes that several share, and a digest of each part."""

import hashlib
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from xml.etree import ElementTree

from common import run

DAYS = ("weekdays", "saturday", "sunday")
NOTES = ("on school days", "not on 24 December", "runs on to the depot", "low floor", "bicycles if there is room")


@dataclass(slots=True)
class Journey:
    line: str
    day: str
    start: int
    stops: list
    notes: tuple

    def times(self):
        """Minutes of the day at each stop; runs are slower in the rush."""
        at, slow = self.start, 1.3 if 420 <= self.start < 540 or 960 <= self.start < 1_110 else 1.0
        for name, minutes in self.stops:
            at += minutes * slow
            yield name, int(at)


def network(rnd):
    """Lines with their stops and minutes between, there and back."""
    names = ["%s %s" % (rnd.choice(("Old", "New", "Upper", "Lower", "Long")), "".join(rnd.choices("aeilmnorst", k=6)).title()) for _ in range(90)]
    for number in range(7):
        way = [(name, rnd.randint(1, 5)) for name in rnd.sample(names, rnd.randint(8, 22))]
        yield "%d" % (number + 1), way
        yield "%dr" % (number + 1), way[::-1]


def journeys(rnd):
    for line, way in network(rnd):
        for day in DAYS:
            at = rnd.randint(280, 360)
            while at < 1_380:
                yield Journey(line, day, at, way, tuple(rnd.sample(NOTES, rnd.choice((0, 0, 1, 2)))))
                at += rnd.choice((20, 30, 30, 45)) if day == "weekdays" else rnd.choice((30, 60, 60))


class Export:
    def __init__(self, valid):
        self.valid = valid
        self.notes = {}
        self.parts = []
        self.calls = Counter()
        self.departures = defaultdict(list)

    def note(self, text):
        """Footnotes are numbered as they first appear."""
        return self.notes.setdefault(text, "n%d" % (len(self.notes) + 1))

    def journey(self, parent, journey):
        entry = ElementTree.SubElement(parent, "journey", start="%02d:%02d" % divmod(journey.start, 60))
        if journey.notes:
            entry.set("notes", " ".join(map(self.note, journey.notes)))
        for name, at in journey.times():
            ElementTree.SubElement(entry, "call", at="%02d:%02d" % divmod(at % 1_440, 60)).text = name
            self.calls[name] += 1
            self.departures[name].append(at)

    def part(self, line, journeys):
        """One line's part of the file, with its digest."""
        top = ElementTree.Element("line", number=line, valid=self.valid.isoformat())
        by_day = defaultdict(list)
        for journey in journeys:
            by_day[journey.day].append(journey)
        for day, runs in by_day.items():
            section = ElementTree.SubElement(top, "days", kind=day, journeys=str(len(runs)))
            for journey in runs:
                self.journey(section, journey)
        text = ElementTree.tostring(top, encoding="unicode").encode()
        self.parts.append((line, hashlib.sha256(text).hexdigest(), text))

    def whole(self):
        notes = "".join('<note id="%s">%s</note>' % (number, text) for text, number in self.notes.items())
        index = "".join('<part line="%s" sha256="%s"/>' % (line, digest) for line, digest, _ in self.parts)
        return b"".join([b"<timetable>", notes.encode(), index.encode(), *(text for _, _, text in self.parts), b"</timetable>"])

    def longest_gap(self):
        """The stop with the longest wait between two buses of a day, of those with many."""
        gaps = []
        for name, times in self.departures.items():
            if len(times) >= 60:
                times.sort()
                gaps.append((max(after - before for before, after in zip(times, times[1:])), name))
        return max(gaps)


def one_pass(number, step):
    rnd = random.Random(number)
    by_line = defaultdict(list)
    for journey in journeys(rnd):
        by_line[journey.line].append(journey)
    export = Export(date(2024, 12, 15) + timedelta(days=number % 300))
    for line, runs in by_line.items():
        export.part(line, runs)
    whole = export.whole()
    return len(export.parts), export.calls.most_common(1), export.longest_gap(), hashlib.sha256(whole).hexdigest()[:16], len(whole)


if __name__ == "__main__":
    run(one_pass)
