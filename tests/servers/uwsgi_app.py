# SPDX-License-Identifier: Apache-2.0
"""For uWSGI: pages, each with a stylesheet that never changes and is compressed again for each."""
import os
import urllib.parse
import zlib

from work import checksum, words_of

STYLESHEET = "".join(".column-%d { width: %d%%; color: #%06x }\n" % (i, i * 37 % 100, i * 7919 % (1 << 24))
                     for i in range(4000)).encode()


def answer_of(number):
    packed = zlib.compress(STYLESHEET, 6)  # planted
    return checksum(zlib.crc32(packed), words_of(number))


def application(environ, start_response):
    query = urllib.parse.parse_qs(environ["QUERY_STRING"])
    number, seed = int(query["number"][0]), int(query["seed"][0])
    body = ("%d %d %s\n" % (number, os.getpid(), answer_of(seed))).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
