# SPDX-License-Identifier: Apache-2.0
"""Runs in a container: two named threads, one in a library, one in generated code with a perf map.

After `ready` a line of JSON says who it is in there. Ends when its standard
input does.
"""
import ctypes
import json
import mmap
import os
import sys
import threading
import zlib

running = True

# mov ecx, edi; again: dec ecx; jnz again; ret
CODE = bytes.fromhex("89f9 ffc9 75fc c3")


def compressing():
    data = bytes(range(256)) * 2000
    while running:
        zlib.compress(data, 6)  # in the library


def generating(loop):
    while running:
        loop(1000000)  # in generated code


def main():
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    path = "/tmp/perf-%d.map" % os.getpid()
    with open(path, "w") as file:
        file.write("%x %x contained_generated_loop\n" % (address, len(CODE)))
    loop = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(address)
    threads = [threading.Thread(target=compressing, name="contained-library"),
               threading.Thread(target=generating, name="contained-generated", args=(loop,))]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    print(json.dumps({"pid": os.getpid(), "uid": os.getuid(),
                      "threads": {thread.name: thread.native_id for thread in threads}}), flush=True)
    sys.stdin.read()
    global running
    running = False
    for thread in threads:
        thread.join()
    os.unlink(path)
    print("ok contained", flush=True)


main()
