# SPDX-License-Identifier: Apache-2.0
"""
What ray_fold.py and dask_fold.py share: recordings made one, in parts, by whatever runs the parts.
Recordings are files or, by fsspec, objects of a store.
"""

import os
import subprocess
import sys
import tempfile

PART = 500
PIEPROFD = os.environ.get("PIEPROFD", "pieprofd")


def is_url(name):
    return "://" in name


def store_of(url):
    """Where a URL leads, by fsspec: s3:// needs s3fs, gs:// gcsfs, abfs:// adlfs."""
    import fsspec

    return fsspec.core.url_to_fs(url)


def fetched(names, folder):
    """The same recordings as files: those of an object store are copied into the folder, many at a time."""
    urls = {name: os.path.join(folder, "%d.pieprof" % number) for number, name in enumerate(names) if is_url(name)}
    for protocol in sorted({url.split("://")[0] for url in urls}):
        own = [url for url in urls if url.startswith(protocol + "://")]
        store, _ = store_of(own[0])
        store.get([store_of(url)[1] for url in own], [urls[url] for url in own])
    return [urls.get(name, name) for name in names]


def report(names, output):
    subprocess.run([PIEPROFD, "report", "@-", "-q", "-o", output], input="\0".join(names) + "\0", text=True, check=True)


def fold(names):
    """A recording of all of these, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.pieprof")
        report(fetched(names, folder), path)
        with open(path, "rb") as file:
            return file.read()


def named(word):
    """A recording; or those that a pattern of an object store has, s3://bucket/2026-11-27/*.pieprof."""
    if not is_url(word) or "*" not in word:
        return [word]
    store, pattern = store_of(word)
    return sorted(store.unstrip_protocol(path) for path in store.glob(pattern))


def names_of(words):
    """Recordings of the words; @FILE has a name in each line."""
    for word in words:
        if word.startswith("@"):
            with open(word[1:], encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file if line.strip())
        else:
            yield from named(word)


def run(fold_parts):
    """fold_parts(parts): fold() of each list of names, in their order."""
    output, names = sys.argv[1], list(names_of(sys.argv[2:]))
    if not names:
        raise SystemExit("no recordings: " + " ".join(sys.argv[2:]))
    parts = fold_parts([names[i:i + PART] for i in range(0, len(names), PART)])
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, part in enumerate(parts):
            paths.append(os.path.join(folder, "%d.pieprof" % number))
            with open(paths[-1], "wb") as file:
                file.write(part)
        whole = os.path.join(folder, "whole.pieprof") if is_url(output) else output
        report(paths, whole)
        if is_url(output):
            store, path = store_of(output)
            store.put(whole, path)
