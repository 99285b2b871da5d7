# SPDX-License-Identifier: Apache-2.0
"""A botanical reference: describes the plants of a flora on demand and keeps every description that it has made."""
import random

import service

GENERA = ("Salvia", "Carex", "Rumex", "Viola", "Allium", "Galium", "Draba", "Silene", "Luzula", "Veronica")
SPECIES = 280
PARTS = ("root", "stem", "leaf", "bract", "sepal", "petal", "stamen", "ovary", "fruit", "seed")
FORMS = ("ovate", "linear", "cordate", "hastate", "glabrous", "hirsute", "glaucous", "serrate")


class Flora:
    def __init__(self):
        self.described = {}
        self.asked = 0

    def describe(self, genus, species):
        """The same plant always has the same description."""
        self.asked += 1
        name = (genus, species)
        if name not in self.described:
            self.described[name] = compose(genus, species)
        return self.described[name]

    def share(self):
        return len(self.described) / (len(GENERA) * SPECIES)


def compose(genus, species):
    rng = random.Random("%s %d" % (genus, species))
    sheets = []
    for month in range(12):
        for part in PARTS:
            forms = rng.sample(FORMS, 3)
            length = rng.uniform(0.2, 30.0)
            sheets.append("%s %d, month %d: %s %s, %.1f cm" % (genus, species, month, part, ", ".join(forms), length))
    return sheets


def question(rng):
    return rng.choice(GENERA), rng.randrange(SPECIES)


def main():
    rng = random.Random(83)
    flora = Flora()
    characters = 0
    for number in service.rounds(per_second=45):
        for _ in range(8):
            characters += len(flora.describe(*question(rng))[0])
        if number % 450 == 0:
            print("described %.0f%%" % (100 * flora.share()), flush=True)
    print("asked %d, characters %d" % (flora.asked, characters))


if __name__ == "__main__":
    main()
