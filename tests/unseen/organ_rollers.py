# SPDX-License-Identifier: Apache-2.0
"""Reads an organ builder's drawing of a tracker action and works out how far every key has to pull its pallet."""

import math
import random
import xml.etree.ElementTree as ET

from runner import run

KEYS = 56
STOPS = ("Principal 8", "Gedackt 8", "Octave 4", "Quint 2 2/3")


def drawing(seed):
    rnd = random.Random(seed)
    organ = ET.Element("organ", opus=str(40 + seed))
    chest = ET.SubElement(organ, "chest")
    order = list(range(KEYS))
    rnd.shuffle(order)
    for key in order:
        ET.SubElement(
            chest, "pallet", id="p%d" % key, at="%.1f" % (key * 31.5 + rnd.uniform(-4, 4)),
            wide="%.1f" % rnd.uniform(14, 22), long="%.0f" % rnd.uniform(150, 240),
        )
    board = ET.SubElement(organ, "rollerboard")
    for key in range(KEYS):
        roller = ET.SubElement(board, "roller", key=str(key), pallet="p%d" % key)
        ET.SubElement(roller, "arm", side="key", mm="%.1f" % rnd.uniform(28, 40))
        ET.SubElement(roller, "arm", side="pallet", mm="%.1f" % rnd.uniform(28, 46))
    ranks = ET.SubElement(organ, "ranks")
    for stop in STOPS:
        rank = ET.SubElement(ranks, "rank", name=stop)
        for key in range(KEYS):
            pipe = ET.SubElement(rank, "pipe", on="p%d" % key)
            pipe.text = "%.2f" % (130 * 2 ** (-key / 17) + rnd.random())
    return ET.tostring(organ)


class Action:
    def __init__(self, text):
        self.organ = ET.fromstring(text)

    def pallet(self, name):
        return self.organ.find("./chest/pallet[@id='%s']" % name)

    def force(self, pallet):
        return float(pallet.get("wide")) * float(pallet.get("long")) * 7e-4

    def pulls(self):
        for roller in self.organ.iterfind("./rollerboard/roller"):
            pallet = self.pallet(roller.get("pallet"))
            key_arm, far_arm = (float(arm.get("mm")) for arm in roller)
            aside = float(pallet.get("at")) - 31.5 * int(roller.get("key"))
            yield math.hypot(10 * far_arm / key_arm, aside), self.force(pallet) * far_arm / key_arm

    def wind(self):
        """Cubic centimetres a second that each pallet has to let through."""
        through = {}
        for pipe in self.organ.iterfind("./ranks/rank/pipe"):
            pallet = self.pallet(pipe.get("on"))
            mouth = float(pipe.text) * 0.785
            slot = 0.1 * float(pallet.get("wide"))
            through[pallet.get("id")] = through.get(pallet.get("id"), 0.0) + mouth * math.sqrt(slot)
        return through


class ActionFixed(Action):
    def __init__(self, text):
        super().__init__(text)
        self.pallets = {pallet.get("id"): pallet for pallet in self.organ.iterfind("./chest/pallet")}

    def pallet(self, name):
        return self.pallets[name]


def one_pass(number, step):
    action = step(drawing(number))
    pulls = list(action.pulls())
    wind = action.wind()
    hungriest = max(sorted(wind), key=wind.get)
    return max(pulls), sum(force for _, force in pulls) / KEYS, hungriest, wind[hungriest], sum(wind.values())


if __name__ == "__main__":
    run(one_pass, Action, ActionFixed)
