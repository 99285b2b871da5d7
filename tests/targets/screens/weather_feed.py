# SPDX-License-Identifier: Apache-2.0
"""Weather stations that are asked for their values, many at a time."""
import asyncio
import time

from rounds import rounds


async def ask(station):
    await asyncio.sleep(0.01)
    for attempt in range(3):
        if (station + attempt) % 3 == 0:
            return station * 0.1
        time.sleep(0.02)
    return None


async def main():
    for _ in rounds():
        await asyncio.gather(*(ask(station) for station in range(20)))


if __name__ == "__main__":
    asyncio.run(main())
