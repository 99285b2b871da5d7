# SPDX-License-Identifier: Apache-2.0
"""A clean program: few numpy calls, each over much data. There is little to find here."""
import argparse
import time

import numpy as np

import support


def smooth(signal, kernel_spectrum):
    return np.fft.irfft(np.fft.rfft(signal) * kernel_spectrum, n=signal.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()

    random = np.random.RandomState(3)
    size = 1 << 19
    signals = [random.rand(size) - 0.5 for _ in range(4)]
    kernel = np.zeros(size)
    kernel[:64] = 1 / 64
    spectrum = np.fft.rfft(kernel)
    # A kernel that sums to 1 leaves the mean as it was.
    means = [float(signal.mean()) for signal in signals]
    problems = []

    support.ready()
    passes = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        k = passes % len(signals)
        smoothed = smooth(signals[k], spectrum)
        power = np.sqrt(np.sum(smoothed * smoothed) / size)
        passes += 1
        if abs(float(smoothed.mean()) - means[k]) > 1e-9 or not 0 < power < 1:
            problems.append("pass %d computed another signal" % passes)
            break
    support.finish("vectorised", problems, "passes=%d" % passes)


if __name__ == "__main__":
    main()
