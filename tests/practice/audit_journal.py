# SPDX-License-Identifier: Apache-2.0
"""A tamper-evident journal of bank transfers: each entry carries the digest of all before it."""

import hashlib
import json
import random

from common import run


def make_transfers(seed, count):
    rng = random.Random(seed)
    for number in range(count):
        yield {
            "number": number,
            "from": "DE%020d" % rng.randrange(10**20),
            "to": "FR%020d" % rng.randrange(10**20),
            "cents": rng.randrange(1, 10**7),
            "text": " ".join(rng.choice(("rent", "gas", "loan", "gift", "refund", "march")) for _ in range(6)),
        }


def check_number(account):
    digits = "".join(str(int(letter, 36)) for letter in account[4:] + account[:4])
    return 98 - int(digits) % 97


class Journal:
    def __init__(self):
        self.entries = []

    def append(self, transfer):
        digest = hashlib.sha256(b"".join(self.entries)).hexdigest()
        entry = json.dumps({**transfer, "seal": digest}, sort_keys=True).encode()
        self.entries.append(entry)
        return digest


class JournalFixed(Journal):
    def __init__(self):
        super().__init__()
        self.hash = hashlib.sha256()

    def append(self, transfer):
        digest = self.hash.copy().hexdigest()
        entry = json.dumps({**transfer, "seal": digest}, sort_keys=True).encode()
        self.entries.append(entry)
        self.hash.update(entry)
        return digest


def balances(journal):
    held = {}
    for entry in journal.entries:
        transfer = json.loads(entry)
        held[transfer["from"]] = held.get(transfer["from"], 0) - transfer["cents"]
        held[transfer["to"]] = held.get(transfer["to"], 0) + transfer["cents"]
    return max(held.values()), min(held.values())


def one_pass(number, make_journal):
    results = []
    for branch in range(3):
        journal = make_journal()
        digest = ""
        for transfer in make_transfers(number * 3 + branch, 700):
            transfer["check"] = check_number(transfer["from"]), check_number(transfer["to"])
            digest = journal.append(transfer)
        results.append((digest, balances(journal)))
    return results


if __name__ == "__main__":
    run(one_pass, Journal, JournalFixed)
