# SPDX-License-Identifier: Apache-2.0
"""For gunicorn with gevent: orders, whose total is taken element by element out of arrays."""
import os
import time
import urllib.parse

import numpy

from work import checksum, words_of

PIECES = 15000


def total_of(number):
    prices = numpy.arange(number, number + PIECES) * 7919 % 9973
    amounts = numpy.arange(PIECES) * (number + 3) % 13
    total = 0
    for i in range(PIECES):
        total += prices[i] * amounts[i]  # planted
    return int(total)


def answer_of(number):
    return checksum(total_of(number), words_of(number))


def application(environ, start_response):
    query = urllib.parse.parse_qs(environ["QUERY_STRING"])
    number, seed = int(query["number"][0]), int(query["seed"][0])
    time.sleep(0.002)  # as for a database; other greenlets run meanwhile
    body = ("%d %d %s\n" % (number, os.getpid(), answer_of(seed))).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
