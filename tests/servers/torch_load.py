# SPDX-License-Identifier: Apache-2.0
"""torch's DataLoader with two workers: the mean of the whole set is taken anew for each image."""
import time

import torch
from torch.utils.data import DataLoader, Dataset

from load import Count, say_ready

IMAGES = 1024
BATCHES_PER_SECOND = 40


class Images(Dataset):
    def __init__(self):
        self.images = torch.arange(IMAGES * 48 * 48, dtype=torch.float32).reshape(IMAGES, 48, 48) % 251

    def __len__(self):
        return IMAGES

    def __getitem__(self, number):
        mean = self.images.mean()  # planted
        image = (self.images[number] - mean).flip(number % 2)
        for _ in range(4):
            image = torch.nn.functional.avg_pool2d(image[None], 3, 1, 1)[0].abs().sqrt() + number
        return number, image.sum()


def main():
    # The workers' sums are in the order of one thread.
    torch.set_num_threads(1)
    dataset = Images()
    expected = [float(dataset[number][1]) for number in range(IMAGES)]
    count = Count()
    loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True, shuffle=True)
    ready = False
    begin, batches = time.monotonic(), 0
    while not count.ended.is_set():
        for numbers, sums in loader:
            for number, value in zip(numbers.tolist(), sums.tolist()):
                count.take(number, value, expected[number])
            if not ready:
                ready = True
                say_ready(0)
            batches += 1
            time.sleep(max(0, begin + batches / BATCHES_PER_SECOND - time.monotonic()))
            if count.ended.is_set():
                break
    count.say()


if __name__ == "__main__":
    main()
