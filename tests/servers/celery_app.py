# SPDX-License-Identifier: Apache-2.0
"""For celery: a task that whitens measurements, and inverts the same matrix for each of them."""
import os

import numpy
from celery import Celery

from work import checksum, words_of

SIZE = 200
COVARIANCE = numpy.eye(SIZE) + numpy.arange(SIZE * SIZE).reshape(SIZE, SIZE) % 17 / 170

app = Celery("celery_app", broker=os.environ["PIEPROFD_REDIS"], backend=os.environ["PIEPROFD_REDIS"])


@app.task
def answer_of(number):
    measured = numpy.cos(numpy.arange(SIZE) * (number + 1))
    inverse = numpy.linalg.inv(COVARIANCE)  # planted
    return checksum(round(float(measured @ inverse @ measured), 6), words_of(number))
