# SPDX-License-Identifier: Apache-2.0
"""Prints shelf labels: lays each one out as text and hands it to the printer's interface in C, by ctypes."""
import ctypes
import random

import service

libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.strdup.argtypes = [ctypes.c_char_p]
libc.strlen.restype = ctypes.c_size_t
libc.strlen.argtypes = [ctypes.c_void_p]

GOODS = ("oat biscuits", "rye flour", "green soap", "lamp oil", "barley", "pickled plums", "string", "candles")
WIDTH = 48


class Label:
    def __init__(self, goods, cents, grams, code):
        self.goods = goods
        self.cents = cents
        self.grams = grams
        self.code = code

    def lines(self):
        yield "+" + "-" * WIDTH + "+"
        yield "|%s|" % self.goods.center(WIDTH)
        yield "|%s|" % ("%d.%02d" % divmod(self.cents, 100)).rjust(WIDTH)
        yield "|%s|" % ("%.2f a kilo" % (self.cents / self.grams * 10)).ljust(WIDTH)
        for digit in "%013d" % self.code:
            yield "|%s|" % ("#" * int(digit) + " " * (9 - int(digit))).center(WIDTH)
        yield "+" + "-" * WIDTH + "+"


class Printer:
    """The driver takes ownership of a C string and prints it by and by."""

    def __init__(self):
        self.sheets = 0
        self.characters = 0

    def send(self, text):
        sheet = libc.strdup(text.encode("ascii"))
        if not sheet:
            raise MemoryError("no memory for a sheet")
        self.sheets += 1
        self.characters += libc.strlen(sheet)


def restock(rng, count):
    for _ in range(count):
        grams = rng.choice((100, 250, 500, 1000))
        yield Label(rng.choice(GOODS), rng.randrange(49, 1999), grams, rng.randrange(10**13))


def main():
    rng = random.Random(17)
    printer = Printer()
    for _ in service.rounds(per_second=20):
        for _ in range(5):
            sheet = "\n".join("\n".join(label.lines()) for label in restock(rng, 20))
            printer.send(sheet)
    print("sheets %d, characters %d" % (printer.sheets, printer.characters))


if __name__ == "__main__":
    main()
