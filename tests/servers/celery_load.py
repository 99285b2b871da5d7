# SPDX-License-Identifier: Apache-2.0
"""Clients of celery's workers: tasks by way of redis, answers by the same way."""
from celery_app import answer_of
from load import drive
from work import SEEDS


def main():
    answers = [answer_of(number) for number in range(SEEDS)]
    drive(lambda number: answer_of.delay(number).get(timeout=60), answers, rate=100)


if __name__ == "__main__":
    main()
