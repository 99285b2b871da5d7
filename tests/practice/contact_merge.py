# SPDX-License-Identifier: Apache-2.0
"""Merges address books: the same person in several of them becomes one contact."""

import random
import re
import unicodedata
from dataclasses import dataclass, field

from common import run

GIVEN = "Ana Björn Chloé Dmitri Éva Farid Grażyna Hélène Igor José Karin Łucja Märta Noël Óscar Pia".split()
FAMILY = "Abreu Bäcker Çelik Dvořák Eriksen Fernández Groß Hansen Ivanov Jørgensen Kovács Lindqvist".split()


@dataclass
class Contact:
    name: str
    mail: str
    phones: list = field(default_factory=list)


def make_book(rng, people, count):
    for name, mail in rng.choices(people, k=count):
        if rng.random() < 0.3:
            name = name.upper()
        if rng.random() < 0.3:
            mail = mail.capitalize()
        phone = "+%d (%d) %06d" % (rng.randrange(30, 50), rng.randrange(10, 99), rng.randrange(10**6))
        yield Contact(name, mail, [phone])


def plain(text):
    text = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in text if not unicodedata.combining(letter))


def digits(phone):
    return "+" + re.sub(r"\D", "", phone)


class Merged:
    def __init__(self):
        self.known = []
        self.contacts = {}
        self.doubles = 0

    def note(self, key):
        self.known.append(key)

    def add(self, contact):
        key = plain(contact.name), contact.mail.lower()
        phones = [digits(phone) for phone in contact.phones]
        if key in self.known:
            self.doubles += 1
            self.contacts[key].phones += phones
        else:
            self.note(key)
            self.contacts[key] = Contact(contact.name.title(), key[1], phones)


class MergedInSet(Merged):
    def __init__(self):
        super().__init__()
        self.known = set()

    def note(self, key):
        self.known.add(key)


def card(contact):
    lines = ["BEGIN:VCARD", "FN:" + contact.name, "EMAIL:" + contact.mail]
    lines += ["TEL:" + phone for phone in sorted(set(contact.phones))]
    return "\r\n".join(lines + ["END:VCARD", ""])


def one_pass(number, kind):
    rng = random.Random(number)
    people = []
    for n in range(900):
        name = "%s %s %s" % (rng.choice(GIVEN), rng.choice(GIVEN), rng.choice(FAMILY))
        people.append((name, "%s.%d@example.org" % (plain(name).replace(" ", "."), n)))
    merged = kind()
    for _ in range(4):
        for contact in make_book(rng, people, 250):
            merged.add(contact)
    cards = [card(contact) for contact in merged.contacts.values()]
    return [merged.doubles, len(cards), cards[0], max(map(len, cards))]


if __name__ == "__main__":
    run(one_pass, Merged, MergedInSet)
