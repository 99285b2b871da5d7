# SPDX-License-Identifier: Apache-2.0
"""A pharmacy fills prescriptions: looks each medicine up in the formulary, splits packs and charges the patient."""

import numpy as np
import pandas as pd

from runner import run

MEDICINES = 1500
SCRIPTS = 60


def formulary(rng):
    packs = np.array([10, 20, 28, 30, 56, 100])
    return pd.DataFrame(
        {
            "code": ["M%06d" % code for code in rng.permutation(900_000)[:MEDICINES]],
            "pack": rng.choice(packs, MEDICINES),
            "pence": rng.integers(90, 4000, MEDICINES),
            "fridge": rng.random(MEDICINES) < 0.05,
            "schedule": rng.integers(0, 4, MEDICINES),
        }
    )


def prescriptions(rng, codes):
    for number in range(SCRIPTS):
        count = int(rng.integers(2, 5))
        lines = [(codes[int(rng.integers(MEDICINES))], int(rng.integers(5, 120))) for _ in range(count)]
        yield "P%05d" % number, bool(rng.random() < 0.4), lines


class Formulary:
    def __init__(self, frame):
        self.frame = frame

    def entry(self, code):
        return self.frame.set_index("code").loc[code]


class FormularyFixed(Formulary):
    def __init__(self, frame):
        super().__init__(frame)
        self.by_code = frame.set_index("code")

    def entry(self, code):
        return self.by_code.loc[code]


class Dispensary:
    CHARGE = 990

    def __init__(self, formulary):
        self.formulary = formulary
        self.rows = []

    def split(self, entry, amount):
        """Whole packs and loose tablets; the pack that is opened is charged in full."""
        whole, loose = divmod(amount, int(entry["pack"]))
        opened = 1 if loose else 0
        return whole, loose, (whole + opened) * int(entry["pence"])

    def fill(self, patient, exempt, lines):
        for code, amount in lines:
            entry = self.formulary.entry(code)
            whole, loose, pence = self.split(entry, amount)
            self.rows.append(
                {
                    "patient": patient,
                    "code": code,
                    "whole": whole,
                    "loose": loose,
                    "pence": pence,
                    "paid": 0 if exempt else min(self.CHARGE, pence),
                    "locked": bool(entry["schedule"] == 3),
                    "cold": bool(entry["fridge"]),
                }
            )

    def day_sheet(self):
        sheet = pd.DataFrame(self.rows)
        by_patient = sheet.groupby("patient")[["pence", "paid"]].sum()
        by_patient["owed"] = (by_patient["pence"] - by_patient["paid"]).clip(lower=0)
        controlled = sheet[sheet["locked"]].sort_values(["code", "patient"])
        return by_patient, controlled


def one_pass(number, step):
    rng = np.random.default_rng(number)
    frame = formulary(rng)
    dispensary = Dispensary(step(frame))
    for patient, exempt, lines in prescriptions(rng, frame["code"].tolist()):
        dispensary.fill(patient, exempt, lines)
    by_patient, controlled = dispensary.day_sheet()
    return (
        [int(total) for total in by_patient.sum()],
        controlled["code"].tolist(),
        sum(row["cold"] for row in dispensary.rows),
    )


if __name__ == "__main__":
    run(one_pass, Formulary, FormularyFixed)
