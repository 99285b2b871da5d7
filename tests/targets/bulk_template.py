# SPDX-License-Identifier: Apache-2.0
"""Bulk work repeated: a template is transformed again for every recording it is looked for in.

The transformation stands outside of any loop, in a function that a loop calls
with the same template each time; that of the recording, which is another each
time, stands beside it and takes as long.
"""
# guilty: pattern = np.fft.rfft(template, axis=1)  # anew
# category: repeated-call or loop-invariant
# mended: pattern = np.fft.rfft(template, axis=1)  # once
# innocent: spectrum = np.fft.rfft(recording, axis=1)

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(32)
CHANNELS, SAMPLES = 64, 180
TEMPLATE = RANDOM.standard_normal((CHANNELS, SAMPLES))
RECORDINGS = RANDOM.standard_normal((40, CHANNELS, SAMPLES))


def match(recording, template):
    spectrum = np.fft.rfft(recording, axis=1)
    pattern = np.fft.rfft(template, axis=1)  # anew
    return abs(np.vdot(pattern, spectrum))


def match_fixed(recording, pattern):
    spectrum = np.fft.rfft(recording, axis=1)
    return abs(np.vdot(pattern, spectrum))


def look(recordings, template):
    return [match(recording, template) for recording in recordings]


def look_fixed(recordings, template):
    pattern = np.fft.rfft(template, axis=1)  # once
    return [match_fixed(recording, pattern) for recording in recordings]


if __name__ == "__main__":
    listing_runner.run(
        "bulk_template", __doc__, lambda: look(RECORDINGS, TEMPLATE), lambda: look_fixed(RECORDINGS, TEMPLATE)
    )
