# SPDX-License-Identifier: Apache-2.0
"""A box office: eight counters that sell tickets and share one printer."""
import threading
import time

from rounds import rounds

printer = threading.Lock()
open_today = True


def print_ticket(number):
    time.sleep(0.01)  # as long as the printer takes
    return "ticket %d" % number


def counter():
    sold = 0
    while open_today:
        price = sum(n * n for n in range(2000))
        with printer:
            print_ticket(sold)
        sold += 1
    return price


if __name__ == "__main__":
    counters = [threading.Thread(target=counter) for _ in range(8)]
    for thread in counters:
        thread.start()
    for _ in rounds():
        time.sleep(0.2)
    open_today = False
    for thread in counters:
        thread.join()
