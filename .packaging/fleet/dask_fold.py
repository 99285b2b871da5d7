# SPDX-License-Identifier: Apache-2.0
"""
Folds recordings on a Dask cluster: each task folds a part of them into one recording, and the fold of
those is the fold of all.

    python3 dask_fold.py OUTPUT.pieprof RECORDING... | @NAMES
    python3 dask_fold.py s3://fleet/day.pieprof 's3://fleet/2026-11-27/*.pieprof'

Behind a dask.distributed.Client, leave scheduler= away: workers must have recording_parts.py on their
path, see the recordings by the same names (a shared folder, or an object store: with fsspec, s3fs and the
like) and have pieprofd.
"""

from dask import compute, delayed

from recording_parts import fold, run

if __name__ == "__main__":
    run(lambda parts: compute(*[delayed(fold)(names) for names in parts], scheduler="processes"))
