-- SPDX-License-Identifier: Apache-2.0
-- Rows of pieprofd in ClickHouse: the table, how it is filled, and what people ask of it.
--
--   pieprofd report @names.txt --format jsonl | clickhouse client --query
--       "INSERT INTO pieprofd_lines FORMAT JSONEachRow"
--
-- or, of files in an object store: INSERT INTO pieprofd_lines SELECT * FROM s3('URL/*.jsonl', 'JSONEachRow').
-- pieprofd-formats(5), section jsonl, has what each column is. Of a cluster: the same table on each
-- shard, and a Distributed one in front of them, sharded by cityHash64(host).

CREATE TABLE pieprofd_lines (
    started DateTime64(9, 'UTC') MATERIALIZED fromUnixTimestamp64Nano(toInt64(started_unix_ns)),
    started_unix_ns UInt64, duration_ns UInt64,
    host LowCardinality(String), namespace LowCardinality(String), pod String, pod_uid String, container String,
    service LowCardinality(String), version LowCardinality(String), revision LowCardinality(String),
    pid UInt32, processes UInt32, command LowCardinality(String), python LowCardinality(String),
    recording_samples UInt64,
    file LowCardinality(String), line UInt32, function LowCardinality(String),
    source LowCardinality(String),
    self_ns UInt64, python_ns UInt64, native_ns UInt64, system_ns UInt64, total_ns UInt64,
    charged_ns UInt64, waiting_ns UInt64, self_samples UInt64,
    avoidable_ns UInt64, avoidable_low_ns UInt64, avoidable_high_ns UInt64,
    category LowCardinality(String), expression LowCardinality(String),
    finding LowCardinality(String)
) ENGINE = MergeTree ORDER BY (service, version, host, started_unix_ns, pid, file, line);

-- # Which service wastes most.
SELECT service, sum(self_ns) / 3.6e12 AS cpu_hours, sum(avoidable_ns) / 3.6e12 AS avoidable_hours,
       round(100 * sum(avoidable_ns) / sum(self_ns)) AS percent
FROM pieprofd_lines GROUP BY service ORDER BY avoidable_hours DESC LIMIT 10;

-- # The ten most avoidable lines of the fleet, and what they cost. CPU hours of the recordings: of a
-- fleet that is sampled for a part of the time, times the rest of it. at_least adds up the lower ends
-- of the lines' 95% intervals.
WITH 0.04 AS price_of_a_cpu_hour
SELECT service, file, line, any(source) AS text, sum(charged_ns) / 3.6e12 AS cpu_hours,
       sum(avoidable_ns) / 3.6e12 AS avoidable_hours,
       sum(avoidable_low_ns) / 3.6e12 AS at_least, avoidable_hours * price_of_a_cpu_hour AS cost,
       uniqExact(host) AS hosts, argMax(category, avoidable_ns) AS kind
FROM pieprofd_lines WHERE avoidable_ns > 0
GROUP BY service, file, line ORDER BY avoidable_hours DESC LIMIT 10;

-- # What changed since a release, and is not noise: recordings differ from each other by more than
-- their samples tell, so the error is that of a ratio of sums over recordings, as report --diff has
-- it of two sets (daemon/report/diff/spread.h). One in twenty of what did not change may be among it.
WITH '1.4' AS before, '1.5' AS after,
totals AS (
    SELECT version, uniqExact(host, pid, started_unix_ns) AS n, sum(duration) AS seconds, sum(duration * duration) AS seconds2
    FROM (SELECT version, host, pid, started_unix_ns, any(duration_ns) / 1e9 AS duration
          FROM pieprofd_lines WHERE service = 'shop' AND version IN (before, after)
          GROUP BY version, host, pid, started_unix_ns)
    GROUP BY version),
per_line AS (
    SELECT version, file, function, source, sum(ms) AS x, sum(ms * ms) AS xx, sum(ms * duration) AS xt
    FROM (SELECT version, host, pid, started_unix_ns, file, function, source,
                 sum(self_ns) / 1e6 AS ms, any(duration_ns) / 1e9 AS duration
          FROM pieprofd_lines WHERE service = 'shop' AND version IN (before, after)
          GROUP BY version, host, pid, started_unix_ns, file, function, source)
    GROUP BY version, file, function, source),
rates AS (
    SELECT version, file, function, source, x / seconds AS rate,
           sqrt(greatest(xx - 2 * rate * xt + rate * rate * seconds2, 0)) / seconds * sqrt(n / (n - 1)) AS error
    FROM per_line JOIN totals USING (version))
SELECT function, source, sumIf(rate, version = before) AS ms_a_second_before,
       sumIf(rate, version = after) AS ms_a_second_after,
       ms_a_second_after - ms_a_second_before AS change, 1.96 * sqrt(sum(error * error)) AS margin
FROM rates GROUP BY file, function, source HAVING abs(change) > margin ORDER BY abs(change) DESC LIMIT 10;
