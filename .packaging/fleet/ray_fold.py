# SPDX-License-Identifier: Apache-2.0
"""
Folds recordings on a Ray cluster: each task folds a part of them into one recording, and the fold of
those is the fold of all.

    python3 ray_fold.py OUTPUT.pieprof RECORDING... | @NAMES
    python3 ray_fold.py s3://fleet/day.pieprof 's3://fleet/2026-11-27/*.pieprof'

Nodes must have recording_parts.py on their path, see the recordings by the same names (a shared folder, or
an object store: with fsspec, s3fs and the like) and have pieprofd.
"""

import ray

from recording_parts import fold, run


def fold_parts(parts):
    ray.init()
    remote = ray.remote(fold)
    return ray.get([remote.remote(names) for names in parts])


if __name__ == "__main__":
    run(fold_parts)
