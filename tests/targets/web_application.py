# SPDX-License-Identifier: Apache-2.0
"""A WSGI application for a web server to run: each answer takes some Python, some numpy and some waiting.

`/?number=N&seed=S` is answered with the number, the process that answered, and a checksum of what was computed from the
seed. Whoever asked can compute the same with answer_of(): all of it is exact integer arithmetic, with numpy or without.
"""
import os
import time
import urllib.parse
import zlib

try:
    import numpy
except ImportError:
    numpy = None

SEEDS = 32
WAIT_SECONDS = 0.002
WORDS = 3000
ELEMENTS = 2000
PRIME = 9973


def words_of(seed):
    """Text handling as templates do it: dictionaries, strings, joins."""
    counts = {}
    state = seed + 1
    for _ in range(WORDS):
        state = (state * 1103515245 + 12345) % 2147483648
        word = "%x" % (state >> 16 & 0xff)
        counts[word] = counts.get(word, 0) + len(word)
    return ",".join("%s=%d" % (word, counts[word]) for word in sorted(counts))


def elements_of(seed):
    """Element by element, with the same array headers read again for each; then all at once."""
    if numpy is None:
        few = sum((i * (seed + 3)) % PRIME for i in range(ELEMENTS))
        return few + sum((i * (seed + 7)) % PRIME for i in range(ELEMENTS * 20))
    values = numpy.arange(ELEMENTS, dtype=numpy.int64)
    total = numpy.zeros(1, dtype=numpy.int64)
    for i in range(ELEMENTS):
        total[0] += (values[i] * (seed + 3)) % PRIME
    return int(total[0]) + int((numpy.arange(ELEMENTS * 20, dtype=numpy.int64) * (seed + 7) % PRIME).sum())


def answer_of(seed):
    return "%08x" % zlib.crc32(("%s %d" % (words_of(seed), elements_of(seed))).encode())


def application(environ, start_response):
    query = urllib.parse.parse_qs(environ["QUERY_STRING"])
    number, seed = int(query["number"][0]), int(query["seed"][0])
    time.sleep(WAIT_SECONDS)  # as for a database
    body = ("%d %d %s\n" % (number, os.getpid(), answer_of(seed))).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
