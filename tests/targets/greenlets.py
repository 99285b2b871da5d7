#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Greenlets that wait in several ways, and one that runs: of the package greenlet, of gevent, or of eventlet.

    greenlets.py greenlet|gevent|eventlet [--spin | --idle | --native]

The one that runs reads standard input, and all ends with that. --spin: it computes for ever. --idle: none runs but the
hub of gevent or eventlet. --native: it reads without any Python.
"""
import os
import sys
import threading
import warnings

import support

KIND = sys.argv[1]


def end():
    print("ok greenlets", flush=True)
    os._exit(0)


def read_input():
    support.ready()
    sys.stdin.read()  # reads
    end()


def spin():
    support.ready()
    while True:
        sum(range(1000))  # spins


def run():
    if "--spin" in sys.argv:
        spin()  # runs spin
    read_input()  # runs read_input


def with_greenlet():
    from greenlet import getcurrent, greenlet

    class Worker(greenlet):
        pass

    def leave(main):
        main.switch()  # leaves

    def call(main):
        leave(main)  # calls leave

    def sort(main):
        sorted([1], key=lambda _: leave(main))  # sorts

    def generate(main):
        yield 1
        leave(main)  # is in a generator

    def consume(main):
        list(generate(main))  # consumes

    def start():
        kept = [Worker(call), greenlet(sort), greenlet(consume), greenlet(call), greenlet(int)]
        for one in kept[:4]:
            one.switch(getcurrent())
        kept[4].switch()  # has ended
        kept.append(greenlet(call))  # has not begun
        return kept

    def work(lock):
        kept = start()
        lock.acquire()  # waits in a thread
        return kept

    lock = threading.Lock()
    lock.acquire()
    thread = threading.Thread(target=work, args=(lock,), name="other", daemon=True)
    thread.start()
    kept = start()
    if "--native" in sys.argv:
        support.ready()
        greenlet(sys.stdin.read).switch()  # starts a read
        end()
    kept.append(greenlet(run))
    kept[-1].switch()  # starts run


def with_gevent():
    import gevent
    import gevent.event

    def wait(event):
        event.wait()  # waits for an event

    def sleep():
        gevent.sleep(3600)  # sleeps

    event = gevent.event.Event()
    waiting = [gevent.spawn(wait, event) for _ in range(3)] + [gevent.spawn(sleep)]
    gevent.sleep(0.01)
    if "--idle" in sys.argv:
        support.ready()
    else:
        waiting.append(gevent.spawn(run))
    gevent.joinall(waiting)  # joins


def with_eventlet():
    warnings.simplefilter("ignore")  # it is deprecated
    import eventlet
    import eventlet.event

    def wait(event):
        event.wait()  # waits for an event

    def sleep():
        eventlet.sleep(3600)  # sleeps

    event = eventlet.event.Event()
    waiting = [eventlet.spawn(wait, event) for _ in range(3)] + [eventlet.spawn(sleep)]
    eventlet.sleep(0.01)
    if "--idle" in sys.argv:
        support.ready()
    else:
        waiting.append(eventlet.spawn(run))
    waiting[0].wait()  # joins


if __name__ == "__main__":
    {"greenlet": with_greenlet, "gevent": with_gevent, "eventlet": with_eventlet}[KIND]()
