# SPDX-License-Identifier: Apache-2.0
"""Recordings of a fleet: any number of them, by label, as rows for tables, and two sets compared."""

import ast
import glob
import json
import os
import re
import subprocess
import tempfile
import unittest.mock

from harness import ROOT, check, check_equal, default_interpreter, pieprofd, wait_until, with_packages
from test_serve_node import crowd

PROGRAM = """
import time
end = time.process_time() + 0.7
def work():
    return sorted(str(i) for i in range(2000))
while time.process_time() < end:
    work()
"""


def record(folder, name, **variables):
    path = os.path.join(folder, name + ".pieprof")
    with unittest.mock.patch.dict(os.environ, variables):
        pieprofd("-q", "--mode", "time", "-o", path, "--", default_interpreter().path, "-c", PROGRAM)
    return path


def check_changes_by_label(paths, names):
    """Shop and mail, each before and after: what is told of a service is what its recordings alone tell."""
    with open(names, "w", encoding="utf-8") as file:
        file.write(paths[0] + "\n" + paths[2] + "\n")
    words = "report", paths[1], "--diff", "@" + names, "--by", "service"
    table = json.loads(pieprofd(*words, "--format", "json").stdout)
    check_equal([(row["service"], row["presence"], row["recordings"]) for row in table],
                [("shop", "both", [1, 1]), ("mail", "gone", [1, 0])], "services")
    alone = json.loads(pieprofd("report", paths[1], "--diff", paths[0], "--format", "json").stdout)
    check_equal(table[0]["cpu_ms_per_s"], [alone[side]["cpu_ms_per_s"] for side in ("base", "now")], "CPU time a second")
    check_equal(table[0]["lines_changed"], sum(not line["noise"] for line in alone["lines"]), "lines that changed")
    check("\nshop " in pieprofd(*words).stdout, "text")
    check("json" in pieprofd(*words, "--format", "jsonl", code=2).stderr, "a difference as rows")


def test_labels_rows_and_sets():
    with tempfile.TemporaryDirectory() as folder:
        paths = [record(folder, "%s-%d" % (service, i), OTEL_SERVICE_NAME=service, DD_VERSION="1.%d" % i,
                        SECRET="do-not-show") for service in ("shop", "mail") for i in (1, 2)]
        names = os.path.join(folder, "names")
        with open(names, "w", encoding="utf-8") as file:
            file.write("".join(path + "\n" for path in paths))

        # One table: a row for each line of each recording, with all times of each.
        rows = [json.loads(line) for line in pieprofd("report", "@" + names, "--format", "jsonl").stdout.splitlines()]
        check(len({tuple(row) for row in rows}) == 1, "all rows have the same members, in one order")
        check_equal({(row["service"], row["version"]) for row in rows},
                    {("shop", "1.1"), ("shop", "1.2"), ("mail", "1.1"), ("mail", "1.2")}, "labels")
        for path in paths:
            report = json.loads(pieprofd("report", path, "--format", "json").stdout)
            own = [row for row in rows if row["pid"] == report["target"]["pid"]]
            check_equal(sum(row["self_ns"] for row in own), sum(report["time_ns"].values()), "time of all rows")
            check("do-not-show" not in json.dumps(report), "no other variable is shown")
            check_equal(report["target"]["labels"]["service"], own[0]["service"], "labels in JSON")

        # By label: what was measured, added up.
        table = json.loads(pieprofd("report", "@" + names, "--by", "service", "--format", "json").stdout)
        check_equal({row["service"]: row["recordings"] for row in table}, {"shop": 2, "mail": 2}, "recordings")
        check_equal(sum(row["cpu_ns"] for row in table), sum(row["self_ns"] for row in rows), "CPU time of all")
        text = pieprofd("report", "--by", "version", *paths).stdout
        check(text.startswith("version ") and "1.1" in text and "1.2" in text, text)
        folded = [json.loads(line) for line in
                  pieprofd("report", "--by", "service", "--format", "jsonl", *paths).stdout.splitlines()]
        check_equal({(row["service"], row["version"]) for row in folded}, {("shop", ""), ("mail", "")},
                    "a label that is not the same of all is not known")
        check_equal(sum(row["self_ns"] for row in folded), sum(row["self_ns"] for row in rows), "time of all")

        # Names on standard input; a fold of folds is the fold of all.
        listed = subprocess.run([os.environ.get("PIEPROFD", "build/pieprofd"), "report", "@-", "--format", "json"],
                                input="\0".join(paths), capture_output=True, text=True, check=True).stdout
        parts = [os.path.join(folder, name) for name in ("a.pieprof", "b.pieprof")]
        for part, some in zip(parts, (paths[:2], paths[2:])):
            pieprofd("report", *some, "-o", part)
        whole = json.loads(listed)
        check_equal(json.loads(pieprofd("report", *parts, "--format", "json").stdout)["time_ns"], whole["time_ns"],
                    "times of a fold of folds")
        check_equal(sum(whole["time_ns"].values()), sum(row["self_ns"] for row in rows), "times of all")

        # Two sets of the same program: nothing is to stand out by much more than one in twenty.
        with open(names, "w", encoding="utf-8") as file:
            file.write("".join(path + "\n" for path in paths[:2]))
        diff = json.loads(pieprofd("report", *paths[2:], "--diff", "@" + names, "--format", "json").stdout)
        check(diff["lines"], "lines are compared")

        check("--by" in pieprofd("report", *paths, "--by", "colour", code=2).stderr, "a label that there is not")
        check_changes_by_label(paths, names)
        check("html" in pieprofd("report", *paths, "--by", "pid", "-o", "x.html", code=2).stderr, "a table as html")
        check("names no recording" in pieprofd("report", "@/dev/null", code=2).stderr, "an empty list")


def test_metrics_that_alerts_and_dashboards_name():
    """All of them are there, so that no panel stays empty and no alert silent."""
    folder = os.path.join(ROOT, ".packaging", "fleet")
    named = set()
    for path in glob.glob(folder + "/*.yaml") + glob.glob(folder + "/grafana/node.json"):
        with open(path, encoding="utf-8") as file:
            named |= {re.sub("_(bucket|sum|count)$", "", name) for name in re.findall(r"\bpieprofd_\w+(?=[{\[ ])", file.read())}
    check(len(named) > 10, "metrics: %s" % named)
    # Of a service, whose heap is looked at, and by turns; nobody is there to be pushed to.
    with unittest.mock.patch.dict(os.environ, {"OTEL_SERVICE_NAME": "shop"}), \
            crowd(1, "100%", "--idle", "--push", "http://127.0.0.1:9") as (_, server):
        wait_until(lambda: "pieprofd_processes 1\n" in server.get("/metrics").decode(), 30, "the process to be sampled")
        server.get("/debug/pprof/heap")
        there = set(re.findall(r"^# TYPE (pieprofd_\w+)", server.get("/metrics").decode(), re.M))
    check(not named - there, "no such metrics: %s" % sorted(named - there))


def test_rows_that_the_schema_has():
    """The columns of the ClickHouse table are the members of a row, in their order."""
    with open(os.path.join(ROOT, ".packaging", "fleet", "clickhouse.sql"), encoding="utf-8") as file:
        table = re.search(r"CREATE TABLE pieprofd_lines \((.*?)\n\) ENGINE", file.read(), re.S).group(1)
    columns = re.findall(r"(\w+) (?:U?Int\d+|String|LowCardinality\(String\))", table)
    with tempfile.TemporaryDirectory() as folder:
        path = record(folder, "x", OTEL_SERVICE_NAME="shop")
        row = json.loads(pieprofd("report", path, "--format", "jsonl").stdout.splitlines()[0])
    check_equal(columns, list(row), "columns")


READER = """
import sys, duckdb
files = "read_parquet('%s/*/*/*.parquet', hive_partitioning = true)" % sys.argv[1]
print(duckdb.sql("SELECT service, version, count(*), sum(self_ns), min(epoch_us(started)), min(day) = min(started AT TIME ZONE 'UTC')::DATE, "
                 "max(source) FROM " + files + " GROUP BY ALL ORDER BY ALL").fetchall())
print(dict(row[:2] for row in duckdb.sql("DESCRIBE SELECT * FROM " + files).fetchall()))
"""


def test_parquet_files():
    """Rows as Parquet files, which another library reads: the same rows, in types of their own."""
    python = with_packages(default_interpreter(), "pyarrow")
    environment = {**os.environ, **python.environment}
    script = os.path.join(ROOT, ".packaging", "fleet", "parquet_rows.py")
    with tempfile.TemporaryDirectory() as folder:
        # A label that is no folder's name as it is.
        paths = [record(folder, name, OTEL_SERVICE_NAME=service, DD_VERSION="1.4")
                 for name, service in (("a", "shop"), ("b", "../b=%2F"))]
        text = pieprofd("report", *paths, "--format", "jsonl").stdout
        rows = [json.loads(line) for line in text.splitlines()]

        refused = pieprofd("report", paths[0], "--format", "parquet", code=2).stderr
        check("parquet_rows.py" in refused, refused)

        def written(lines, place):
            return subprocess.run([python.path, script, place, "--by", "day,service"], input=lines, text=True,
                                  env=environment, capture_output=True, check=False)

        place = os.path.join(folder, "rows")
        for _ in range(2):
            run = written(text, place)
            check_equal(run.returncode, 0, run.stderr)
        table, types = subprocess.run([python.path, "-c", READER, place], env=environment, capture_output=True,
                                      text=True, check=True).stdout.splitlines()
        expected = []
        for service in sorted({row["service"] for row in rows}):
            own = [row for row in rows if row["service"] == service]
            expected.append((service, "1.4", 2 * len(own), 2 * sum(row["self_ns"] for row in own),
                             own[0]["started_unix_ns"] // 1000, True, max(row["source"] for row in own)))
        check_equal(ast.literal_eval(table), expected, "a second run adds its rows")
        types = ast.literal_eval(types)
        check_equal(set(types), set(rows[0]) | {"started", "day"}, "columns")
        check_equal({types[name] for name in ("started_unix_ns", "line", "self_ns")}, {"BIGINT"}, "numbers")
        check_equal((types["started"], types["day"]), ("TIMESTAMP WITH TIME ZONE", "DATE"), "moments")

        for name, lines in (("cut", text[:-20]), ("other", text.replace('"line":', '"lines":'))):
            run = written(lines, os.path.join(folder, name))
            check(run.returncode == 1 and "nothing is written" in run.stderr, run.stderr)
            check_equal(os.listdir(os.path.join(folder, name)), [], "files of rows that are not whole")
