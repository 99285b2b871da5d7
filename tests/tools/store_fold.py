# SPDX-License-Identifier: Apache-2.0
"""
Puts recordings into an S3 store on loopback (moto), has ray_fold.py and dask_fold.py of .packaging/fleet
fold them there, and compares what they put back with what they, and `pieprofd report`, make of the files.

    PIEPROFD=build/pieprofd python3 store_fold.py RECORDING... | @NAMES
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import fsspec

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".packaging", "fleet")
PIEPROFD = os.path.abspath(os.environ.get("PIEPROFD", "build/pieprofd"))


def told(path):
    """All that a recording says, but for which file it is."""
    text = subprocess.run([PIEPROFD, "report", path, "--format", "json"], capture_output=True, check=True).stdout
    return json.loads(text)


def timed(command, **options):
    start = time.monotonic()
    subprocess.run(command, env={**os.environ, "PIEPROFD": PIEPROFD}, check=True, **options)
    return time.monotonic() - start


def stored(port):
    """The store's file system, once it answers."""
    os.environ.update(AWS_ENDPOINT_URL="http://127.0.0.1:%d" % port, AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x",
                      AWS_DEFAULT_REGION="us-east-1")
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return fsspec.filesystem("s3")
        except OSError:
            time.sleep(0.1)
    raise SystemExit("no store")


def main():
    names = sys.argv[1:]
    if names[0].startswith("@"):
        with open(names[0][1:], encoding="utf-8") as file:
            names = file.read().split("\n")[:-1]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            store = stored(port)
            store.mkdir("fleet")
            store.put(names, ["fleet/recordings/%06d.pieprof" % number for number in range(len(names))])
            whole = os.path.join(folder, "whole.pieprof")
            took = timed([PIEPROFD, "report", "@-", "-q", "-o", whole], input="\0".join(names) + "\0", text=True)
            print("%d recordings; files, one process: %.1f s" % (len(names), took))
            listed = os.path.join(folder, "names")
            with open(listed, "w", encoding="utf-8") as file:
                file.write("\n".join(names) + "\n")
            for engine in ("ray", "dask"):
                script = [sys.executable, "%s/%s_fold.py" % (FLEET, engine)]
                of_files, of_store = (os.path.join(folder, engine + name) for name in ("-files.pieprof", "-store.pieprof"))
                files = timed(script + [of_files, "@" + listed])
                objects = timed(script + ["s3://fleet/%s.pieprof" % engine, "s3://fleet/recordings/*.pieprof"])
                store.get("fleet/%s.pieprof" % engine, of_store)
                made, expected = told(of_store), told(whole)
                assert made == told(of_files), engine + ": not the same report"
                for name in ("time_ns", "cpu_ns", "samples", "lines"):
                    assert made[name] == expected[name], "%s: other %s" % (engine, name)
                # A fold of folds tells less apart of many threads and processes.
                other = [name for name in expected if made[name] != expected[name]]
                print("%s: files %.1f s, store %.1f s; the same report; other than one process's: %s" %
                      (engine, files, objects, ", ".join(other) or "nothing"))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
