# SPDX-License-Identifier: Apache-2.0
"""Typesets a printer's proofs on four threads, each of which has fonts and a page of its own at hand."""
import queue
import random
import threading

import service

THREADS = 4
WIDTH = 64
SIZES = (8, 10, 12)
WORDS = "quoin galley forme serif kerning ligature folio recto verso imprint colophon signature deckle vellum".split()

local = threading.local()


def workplace():
    """What a thread keeps for its jobs; made when its first one comes."""
    if not hasattr(local, "fonts"):
        local.fonts = {size: {word: size * 0.5 * len(word) for word in WORDS} for size in SIZES}
        local.galleys = []
        local.widest = 0.0
    return local


def set_line(words, size):
    place = workplace()
    font = place.fonts[size]
    width = sum(font[word] + 0.3 * size for word in words)
    place.widest = max(place.widest, width)
    return " ".join(words).ljust(WIDTH)


def typeset(text, size):
    place = workplace()
    line, length = [], 0
    for word in text:
        if length + len(word) + 1 > WIDTH:
            place.galleys.append(set_line(line, size))
            line, length = [], 0
        line.append(word)
        length += len(word) + 1
    place.galleys.append(set_line(line, size))
    return place.galleys[-1]


def work(jobs, proofs):
    while True:
        job = jobs.get()
        if job is None:
            return
        number, text, size = job
        proofs.put((number, typeset(text, size)))


def main():
    rng = random.Random(59)
    jobs, proofs = queue.Queue(), queue.Queue()
    threads = [threading.Thread(target=work, args=(jobs, proofs)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    checked = 0
    for number in service.rounds(per_second=30):
        for _ in range(4):
            jobs.put((number, [rng.choice(WORDS) for _ in range(600)], rng.choice(SIZES)))
        for _ in range(4):
            proofs.get()
            checked += 1
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    print("proofs %d" % checked)


if __name__ == "__main__":
    main()
