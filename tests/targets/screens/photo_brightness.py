# SPDX-License-Identifier: Apache-2.0
"""Photos made brighter."""
import numpy as np

from rounds import rounds


def photo(number):
    return np.random.default_rng(number).integers(0, 256, (240, 320)).astype(np.uint8)


def brighter(image, by):
    result = np.zeros_like(image)
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            result[y, x] = min(255, image[y, x] * by)
    return result


if __name__ == "__main__":
    for number in rounds():
        brighter(photo(number), 1.3)
