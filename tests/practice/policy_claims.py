# SPDX-License-Identifier: Apache-2.0
"""An insurer's claims of a night: each is set against its policy in the partner's XML export, and settled."""

import random
import xml.etree.ElementTree as ET
from datetime import date, timedelta
from decimal import Decimal

from common import run

POLICIES, CLAIMS = 330, 400
NOTHING, CENT, TAX = Decimal(0), Decimal("0.01"), Decimal("0.19")
KINDS = {"glass": Decimal("0.95"), "hail": Decimal("0.8"), "theft": Decimal("0.9"), "marten": Decimal("0.6")}


def make_export(rng):
    root = ET.Element("export", day="2024-03-01")
    names = ["%s-%06d" % (rng.choice("KLM"), number) for number in rng.sample(range(10**6), POLICIES)]
    for name in names:
        policy = ET.SubElement(root, "policy", number=name)
        ET.SubElement(policy, "since").text = (date(2024, 1, 1) - timedelta(rng.randrange(40, 4000))).isoformat()
        ET.SubElement(policy, "excess").text = "%d.00" % rng.choice([0, 150, 300, 500])
        cover = ET.SubElement(policy, "cover")
        for kind in rng.sample(list(KINDS), 3):
            ET.SubElement(cover, "risk", kind=kind, limit=str(rng.randrange(5, 80) * 100))
    return ET.tostring(root, encoding="unicode"), names


def make_claims(rng, names):
    for number in range(CLAIMS):
        kinds = rng.choices(["part", "hours", "paint"], k=rng.randrange(4, 14))
        parts = [(kind, rng.randrange(20, 90_000)) for kind in kinds]
        happened = date(2024, 1, 1) + timedelta(rng.randrange(55))
        name = rng.choice(names) if rng.random() < 0.95 else "X-000000"
        yield {"number": number, "policy": name, "kind": rng.choice(list(KINDS)), "day": happened, "parts": parts}


def policies_of(root):
    def policy(number):
        return root.find("policy[@number='%s']" % number)

    return policy


def policies_of_fixed(root):
    return {policy.get("number"): policy for policy in root.iter("policy")}.get


def invoice(claim):
    total = NOTHING
    lines = []
    for name, cents in claim["parts"]:
        amount = Decimal(cents) / 100
        tax = (amount * TAX).quantize(CENT)
        total += amount + tax
        lines.append("%-8s %10s %8s" % (name, amount, tax))
    return total, lines


def settle(claim, policy):
    total, lines = invoice(claim)
    if policy is None:
        return "unknown", NOTHING, lines
    if claim["day"] - date.fromisoformat(policy.findtext("since")) < timedelta(60):
        return "too early", NOTHING, lines
    limits = {risk.get("kind"): Decimal(risk.get("limit")) for risk in policy.find("cover")}
    if claim["kind"] not in limits:
        return "not covered", NOTHING, lines
    paid = total * KINDS[claim["kind"]] - Decimal(policy.findtext("excess"))
    return "paid", min(max(paid, NOTHING), limits[claim["kind"]]).quantize(CENT), lines


def letters(claims, policy_of):
    ends, paid, size = {}, NOTHING, 0
    for claim in claims:
        policy = policy_of(claim["policy"])
        end, amount, lines = settle(claim, policy)
        ends[end] = ends.get(end, 0) + 1
        paid += amount
        size += len("Claim %d\n%s\n%s: %s\n" % (claim["number"], "\n".join(lines), end, amount))
    return [sorted(ends.items()), str(paid), size]


def one_pass(number, policies):
    rng = random.Random(number)
    text, names = make_export(rng)
    claims = list(make_claims(rng, names))
    return letters(claims, policies(ET.fromstring(text)))


if __name__ == "__main__":
    run(one_pass, policies_of, policies_of_fixed)
