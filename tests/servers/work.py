# SPDX-License-Identifier: Apache-2.0
"""What the applications do beside their planted line: other work for each number, always the same for the same."""
import zlib

# As many answers are known beforehand; that many requests lie between two with the same number.
SEEDS = 256


def words_of(number, words=1500):
    """Text handling as templates do it: dictionaries, strings, joins."""
    counts = {}
    state = number + 1
    for _ in range(words):
        state = (state * 1103515245 + 12345) % 2147483648
        word = "%x" % (state >> 16 & 0xff)
        counts[word] = counts.get(word, 0) + len(word)
    return ",".join("%s=%d" % (word, counts[word]) for word in sorted(counts))


def checksum(*parts):
    return "%08x" % zlib.crc32(repr(parts).encode())
