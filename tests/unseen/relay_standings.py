# SPDX-License-Identifier: Apache-2.0
"""Standings of a mountain relay at every hut: order, gaps, places won and lost, and who is about to be taken out."""

import random
from bisect import bisect_right

from runner import run

TEAMS = 120
HUTS = 40


class Team:
    def __init__(self, bib, rnd):
        self.bib = bib
        self.pace = rnd.gauss(62, 5)
        self.clock = rnd.randrange(0, 600, 15)
        self.out = False

    def walk(self, km, rnd):
        self.clock += int(60 * km * self.pace / 10 * rnd.uniform(0.92, 1.15))

    def __repr__(self):
        return "%03d %d:%02d:%02d" % (self.bib, self.clock // 3600, self.clock // 60 % 60, self.clock % 60)


def standings(teams):
    return sorted((team for team in teams if not team.out), key=lambda team: (team.clock, team.bib))


def board(order):
    """The lines on the hut's board: place, team, gap to the first and to the one before."""
    lines, first, before = [], order[0].clock, order[0].clock
    for place, team in enumerate(order, 1):
        lines.append("%3d  %r  +%d  (+%d)" % (place, team, team.clock - first, team.clock - before))
        before = team.clock
    return lines


def changes(order, places):
    """How many places each team has won since the hut before; keeps the new ones."""
    won = {}
    for place, team in enumerate(order, 1):
        won[team.bib] = places.get(team.bib, place) - place
        places[team.bib] = place
    return won


def sweep(order, km):
    limit = order[0].clock + int(700 + 55 * km)
    still = bisect_right([team.clock for team in order], limit)
    for team in order[still:]:
        team.out = True
    return len(order) - still


def one_pass(number, step):
    rnd = random.Random(number)
    teams = [Team(bib, rnd) for bib in range(1, TEAMS + 1)]
    places, km, swept, climbs, letters = {}, 0.0, [], [], 0
    for _ in range(HUTS):
        leg = rnd.uniform(3, 9)
        km += leg
        for team in teams:
            if not team.out:
                team.walk(leg, rnd)
        order = standings(teams)
        letters += sum(map(len, board(order)))
        won = changes(order, places)
        climbs.append(max(won.values()))
        swept.append(sweep(order, km))
    return repr(order[0]), sum(swept), max(climbs), letters, len(order)


if __name__ == "__main__":
    run(one_pass)
