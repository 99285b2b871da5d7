# SPDX-License-Identifier: Apache-2.0
"""A thermal camera over a brick kiln: looks for the hottest spot of each picture and follows how it moves."""
import numpy as np

import service

HEIGHT, WIDTH = 240, 320
SPOT = 8


class Camera:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
        self.rows, self.columns = rows.astype(np.float32), columns.astype(np.float32)

    def picture(self, second):
        """Degrees of every pixel; the fire wanders on an ellipse."""
        row = HEIGHT / 2 + 70 * np.sin(second / 40)
        column = WIDTH / 2 + 110 * np.cos(second / 55)
        glow = 900 * np.exp(-((self.rows - row) ** 2 + (self.columns - column) ** 2) / 1800)
        noise = self.rng.normal(0, 6, (HEIGHT, WIDTH))
        return (150 + glow + noise).astype(np.float32)


class Watch:
    def __init__(self):
        self.spots = []
        self.moved = 0.0
        self.place = None

    def look(self, picture):
        row, column = np.unravel_index(int(picture.argmax()), picture.shape)
        top = min(max(row - SPOT // 2, 0), HEIGHT - SPOT)
        left = min(max(column - SPOT // 2, 0), WIDTH - SPOT)
        self.spots.append(picture[top : top + SPOT, left : left + SPOT])
        if self.place is not None:
            self.moved += float(np.hypot(row - self.place[0], column - self.place[1]))
        self.place = (row, column)

    def hottest(self, count=50):
        return max(float(spot.mean()) for spot in self.spots[-count:])


def main():
    camera, watch = Camera(73), Watch()
    for number in service.rounds(per_second=8):
        watch.look(camera.picture(number))
        if number % 80 == 0:
            print("hottest %.0f degrees, moved %.0f" % (watch.hottest(), watch.moved), flush=True)
    print("moved %.0f" % watch.moved)


if __name__ == "__main__":
    main()
