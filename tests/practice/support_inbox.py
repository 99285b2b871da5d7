# SPDX-License-Identifier: Apache-2.0
"""Routes the mail of a support desk: headers are read, threads and tickets found, robots left out, every mail goes to a queue."""

import base64
import email
import hashlib
import random
import re
from collections import Counter
from email.header import decode_header, make_header
from email.parser import BytesHeaderParser
from email.utils import getaddresses, parsedate_to_datetime

from common import run

TICKET = re.compile(r"\[#(\d{6})\]")
QUEUES = {"invoice": "billing", "refund": "billing", "login": "accounts", "password": "accounts", "crash": "engineers"}


class Desk:
    def __init__(self):
        self.seen = set()
        self.threads = {}
        self.queues = Counter()
        self.waiting = Counter()
        self.stamps = 0

    def read(self, raw):
        return email.message_from_bytes(raw)

    def subject(self, mail):
        return str(make_header(decode_header(mail["Subject"])))

    def queue(self, mail, subject):
        known = self.threads.get(mail["In-Reply-To"])
        if known:
            return known
        ticket = TICKET.search(subject)
        if ticket:
            return "ticket-%d" % (int(ticket.group(1)) % 7)
        for word in re.findall(r"[a-z]+", subject.lower()):
            if word in QUEUES:
                return QUEUES[word]
        return "triage"

    def receive(self, raw):
        mark = hashlib.sha256(raw).digest()
        if mark in self.seen:
            self.queues["twice"] += 1
            return
        self.seen.add(mark)
        mail = self.read(raw)
        if mail["Auto-Submitted"] or mail["List-Id"]:
            self.queues["robots"] += 1
            return
        subject = self.subject(mail)
        chosen = self.queue(mail, subject)
        self.threads[mail["Message-ID"]] = chosen
        self.queues[chosen] += 1
        for _, address in getaddresses(mail.get_all("From", []) + mail.get_all("Cc", [])):
            self.waiting[address.rpartition("@")[2]] += 1
        self.stamps += int(parsedate_to_datetime(mail["Date"]).timestamp()) % 9973


class HeaderDesk(Desk):
    def read(self, raw):
        return BytesHeaderParser().parsebytes(raw)


def attachment(rnd):
    return base64.encodebytes(bytes(rnd.getrandbits(8) for _ in range(rnd.randint(800, 4_000)))).decode()


def written(rnd, serial, before, words, files):
    subject = "%s %s" % (rnd.choice(words), rnd.choice(list(QUEUES) + words))
    if rnd.random() < 0.3:
        subject = "Re: [#%06d] %s" % (rnd.randrange(10**6), subject)
    if rnd.random() < 0.2:
        subject = "=?utf-8?b?%s?=" % base64.b64encode(("Ärger: " + subject).encode()).decode()
    head = [
        "From: Customer %d <c%d@%s.example>" % (serial, rnd.randrange(10**5), rnd.choice(words)),
        "To: help@desk.example",
        'Cc: boss@%s.example, "B, Ann" <ann@%s.example>' % (rnd.choice(words), rnd.choice(words)),
        "Date: Mon, %d Jun 2025 %02d:%02d:00 +0200" % (rnd.choice((2, 9, 16)), rnd.randrange(24), rnd.randrange(60)),
        "Message-ID: <%d.%x@mx.example>" % (serial, rnd.getrandbits(40)),
        "Subject: " + subject,
        "MIME-Version: 1.0",
        'Content-Type: multipart/mixed; boundary="cut%d"' % serial,
    ]
    if before and rnd.random() < 0.3:
        head.append("In-Reply-To: " + rnd.choice(before))
    if rnd.random() < 0.1:
        head.append("Auto-Submitted: auto-replied")
    before.append(head[4].partition(" ")[2])
    text = "\n".join(" ".join(rnd.choices(words, k=9)) for _ in range(rnd.randint(3, 20)))
    parts = ["Content-Type: text/plain\n\n%s\n" % text]
    for _ in range(rnd.randint(0, 1)):
        parts.append("Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n%s" % rnd.choice(files))
    body = "".join("--cut%d\n%s" % (serial, part) for part in parts)
    return ("\n".join(head) + "\n\n" + body + "--cut%d--\n" % serial).encode()


def one_pass(number, kind):
    rnd = random.Random(number)
    words = ["w%x" % rnd.getrandbits(20) for _ in range(60)]
    files = [attachment(rnd) for _ in range(5)]
    desk, before = kind(), []
    for serial in range(120):
        raw = written(rnd, serial, before, words, files)
        for _ in range(2 if rnd.random() < 0.03 else 1):
            desk.receive(raw)
    return sorted(desk.queues.items()), sorted(desk.waiting.items())[:8], desk.stamps


if __name__ == "__main__":
    run(one_pass, Desk, HeaderDesk)
