# SPDX-License-Identifier: Apache-2.0
"""
Rows of pieprofd as Parquet files, by pyarrow:

    set -o pipefail
    pieprofd report @names.txt --format jsonl | python3 parquet_rows.py FOLDER [--by day,service]

writes FOLDER/day=2026-11-27/*.parquet, in memory that does not grow with the rows. Another run adds
files. None is there before all are whole; when a row is not what it should be, there is none at all.
"""

import argparse
import io
import os
import shutil
import sys
import tempfile
import uuid

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.json as pj

# pieprofd-formats(5), section jsonl. Whole numbers are signed, and started is of microseconds: Spark,
# Trino and others read no unsigned ones and no nanoseconds. started_unix_ns has those.
NUMBERS = """started_unix_ns duration_ns pid processes recording_samples line self_ns python_ns native_ns system_ns
    total_ns charged_ns waiting_ns self_samples avoidable_ns avoidable_low_ns avoidable_high_ns""".split()
NAMES = """host namespace pod pod_uid container service version revision command python file function source category
    expression finding""".split()
LABELS = ["day", "namespace", "service", "version"]
ROW = pa.schema([(name, pa.int64()) for name in NUMBERS] + [(name, pa.string()) for name in NAMES])
FILE = ROW.append(pa.field("started", pa.timestamp("us", "UTC"))).append(pa.field("day", pa.date32()))

BLOCK = 4 << 20  # bytes of rows that are read at once
PART = 64 << 20  # bytes of rows, in memory, that become a file of each folder


def dated(rows):
    """The same rows, with when each recording was started."""
    for name, column in zip(rows.column_names, rows.columns):
        if column.null_count:
            raise ValueError("a row has no %s" % name)
    started = pc.divide(rows.column("started_unix_ns"), 1000).cast(pa.timestamp("us", "UTC"))
    return pa.table(rows.columns + [started, started.cast(pa.date32())], schema=FILE)


def parts_of(rows):
    """Tables of some 64 MiB; pyarrow's own reader and writer of streams run ahead of each other instead."""
    tables, size = [], 0
    while block := b"".join(rows.readlines(BLOCK)):
        table = pj.read_json(io.BytesIO(block), pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
                             pj.ParseOptions(explicit_schema=ROW, unexpected_field_behavior="error"))
        tables.append(dated(table))
        size += table.nbytes
        if size >= PART:
            yield pa.concat_tables(tables)
            tables, size = [], 0
    if tables:
        yield pa.concat_tables(tables)


def write(rows, folder, labels):
    """How many rows there were; all of them are in files, or none is."""
    form = ds.ParquetFileFormat()
    options = form.make_write_options(compression="zstd")
    partitioning = ds.partitioning(pa.schema([FILE.field(name) for name in labels]), flavor="hive")
    run, count = uuid.uuid4().hex, 0
    os.makedirs(folder, exist_ok=True)
    # What begins with _ is no part of a table, to those that read folders.
    partial = tempfile.mkdtemp(prefix="_", dir=folder)
    try:
        for number, table in enumerate(parts_of(rows)):
            ds.write_dataset(table, partial, format=form, file_options=options, partitioning=partitioning,
                             basename_template="%s-%d-{i}.partial" % (run, number), use_threads=False,
                             existing_data_behavior="overwrite_or_ignore")
            count += table.num_rows
        if not count:
            raise ValueError("no rows came")
        for place, _, names in os.walk(partial):
            whole = os.path.join(folder, os.path.relpath(place, partial))
            os.makedirs(whole, exist_ok=True)
            for name in names:
                os.rename(os.path.join(place, name), os.path.join(whole, name[:-len("partial")] + "parquet"))
    finally:
        shutil.rmtree(partial)
    return count


def main():
    parser = argparse.ArgumentParser(description="Rows of pieprofd, from standard input, as Parquet files.")
    parser.add_argument("folder")
    parser.add_argument("--by", default="day", help="what has folders of its own, with commas: %s" % ", ".join(LABELS))
    options = parser.parse_args()
    labels = options.by.split(",")
    if set(labels) - set(LABELS):
        parser.error("--by: one of %s" % ", ".join(LABELS))
    try:
        count = write(sys.stdin.buffer, options.folder, labels)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise SystemExit("parquet_rows: nothing is written: %s" % error) from None
    print("parquet_rows: %d rows in %s" % (count, options.folder), file=sys.stderr)


if __name__ == "__main__":
    main()
