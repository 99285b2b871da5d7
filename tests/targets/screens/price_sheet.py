# SPDX-License-Identifier: Apache-2.0
"""A price list as a table in HTML."""
import random

from rounds import rounds


class Sheet:
    def __init__(self):
        self.text = "<table>\n"

    def add(self, name, price):
        self.text += "<tr><td>%s</td><td>%.2f</td></tr>\n" % (name, price)

    def end(self):
        self.text += "</table>\n"
        return self.text


def sheet(number):
    rng = random.Random(number)
    page = Sheet()
    for n in range(20000):
        page.add("article %d" % n, rng.uniform(1, 100))
    return page.end()


if __name__ == "__main__":
    for number in rounds():
        sheet(number)
