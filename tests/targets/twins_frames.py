# SPDX-License-Identifier: Apache-2.0
"""Twins: every short frame of a recording makes the same window anew, beside spectra of long pieces."""
# guilty: window = np.hanning(len(frame))
# category: repeated-call
# mended: window = WINDOWS.setdefault(
# innocent: spectra = np.fft.rfft(pieces, axis=1)

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(23)
RECORDING = RANDOM.standard_normal(1 << 17)
WINDOWS = {}


def energy(frame):
    window = np.hanning(len(frame))
    return np.dot(frame, window)


def energy_fixed(frame):
    size = len(frame)
    window = WINDOWS.setdefault(size) if size in WINDOWS else WINDOWS.setdefault(size, np.hanning(size))
    return np.dot(frame, window)


def long_term(pieces):
    spectra = np.fft.rfft(pieces, axis=1)
    return spectra[:, 1:9].real.sum()


def work(energy_of):
    energies = [energy_of(RECORDING[k : k + 256]) for k in range(0, len(RECORDING) - 256, 128)]
    return [long_term(RECORDING.reshape(count, -1)) for count in (4, 8, 16, 32) * 3] + energies


if __name__ == "__main__":
    listing_runner.run("twins_frames", __doc__, lambda: work(energy), lambda: work(energy_fixed))
