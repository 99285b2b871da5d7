# SPDX-License-Identifier: Apache-2.0
"""For uvicorn: FastAPI, with a catalogue that never changes and is parsed again for each request."""
import asyncio
import json
import os

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

from work import checksum, words_of

CATALOGUE = json.dumps([{"article": i, "name": "article %d" % i, "price": i * 7919 % 9973 / 100,
                         "tags": ["tag %d" % (i % 9)]} for i in range(3000)])

app = FastAPI()


def answer_of(number):
    catalogue = json.loads(CATALOGUE)  # planted
    return checksum(catalogue[number]["price"], words_of(number))


@app.get("/", response_class=PlainTextResponse)
async def answer(number: int, seed: int):
    await asyncio.sleep(0.002)  # as for a database
    return "%d %d %s\n" % (number, os.getpid(), answer_of(seed))
