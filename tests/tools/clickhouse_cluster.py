# SPDX-License-Identifier: Apache-2.0
"""
Two ClickHouse servers on loopback as two shards: loads rows into a table of one server, and into the
table of .packaging/fleet/clickhouse-cluster.sql over both, asks both the queries of clickhouse.sql,
compares the answers, and tells how long each took.

    python3 clickhouse_cluster.py ROWS.jsonl [RUNS]

$CLICKHOUSE_SERVER is the server's program, of Debian 12's package clickhouse-server if not said.
"""

import http.client
import math
import os
import re
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".packaging", "fleet")
SERVER = shlex.split(os.environ.get("CLICKHOUSE_SERVER", "clickhouse-server"))
# As servers of 2018 and of today have it.
CONFIGURATION = """<yandex><logger><level>warning</level><errorlog>{folder}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>{tcp}</tcp_port><http_port>{http}</http_port>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
<format_schema_path>{folder}/schemas/</format_schema_path><mark_cache_size>268435456</mark_cache_size>
<users_config>{folder}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><timezone>UTC</timezone>
<remote_servers><pieprofd>{shards}</pieprofd></remote_servers></yandex>"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>"
USERS = """<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>"""
ROWS_IN = "INSERT INTO pieprofd_lines FORMAT JSONEachRow"


def statements(name):
    with open(os.path.join(FLEET, name), encoding="utf-8") as file:
        return [part.strip() for part in re.sub(r"^--.*$", "", file.read(), flags=re.M).split(";") if part.strip()]


def for_version(statement, version):
    """For a server of before 2020: no DateTime64, no MATERIALIZED behind Distributed, no subqueries in WITH,
    and in subqueries none of its names."""
    if version >= (20, 10):
        return statement
    statement = re.sub(r"started DateTime64\(.*?\) MATERIALIZED .*?,\n",
                       "started DateTime ALIAS toDateTime(intDiv(started_unix_ns, 1000000000)),\n", statement)
    while True:
        named = re.search(r"(?:(?<=^WITH )|,\n|(?<=,\n))(\w+) AS \(", statement)
        if not named:
            break
        end, depth = named.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(statement[end], 0)
            end += 1
        query = statement[named.end() - 1:end]
        # A name and a comma less, and what it names wherever it stands after FROM or JOIN.
        rest = statement[:named.start()].rstrip(",\n ") + statement[end:]
        statement = re.sub(r"\b(FROM|JOIN) %s\b" % named.group(1), lambda use: use.group(1) + " " + query, rest)
    values = re.match(r"WITH (('[^']*'|[\d.]+) AS \w+,?\s+)+(?=SELECT)", statement)
    if values:
        statement = statement[values.end():]
        for value, name in re.findall(r"('[^']*'|[\d.]+) AS (\w+)", values.group(0)):
            statement = re.sub(r"\b%s\b" % name, value, statement)
    return statement


class Server:
    """One of two servers, with all that it writes in a folder."""

    def __init__(self, folder, http_port, tcp_ports, number):
        self.port = http_port
        os.makedirs(folder)
        for name in ("data", "tmp", "files", "schemas"):
            os.mkdir(os.path.join(folder, name))
        with open(folder + "/config.xml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(folder=folder, http=http_port, tcp=tcp_ports[number],
                                            shards="".join(SHARD % port for port in tcp_ports)))
        with open(folder + "/users.xml", "w", encoding="utf-8") as file:
            file.write(USERS)
        with open(folder + "/output", "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(SERVER + ["--config-file=%s/config.xml" % folder], cwd=folder,
                                            stdout=output, stderr=output)
        for _ in range(300):
            try:
                self.ask("SELECT 1")
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        with open(folder + "/output", encoding="utf-8") as output:
            raise SystemExit("no server: " + output.read()[-2000:])

    def ask(self, text, database="default", body=None, **settings):
        """Rows of the answer, as lists of text."""
        settings.update(query=text, database=database)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = {"Content-Length": str(os.fstat(body.fileno()).st_size)} if body else {}
        connection.request("POST", "/?" + urllib.parse.urlencode(settings), body=body, headers=headers)
        response = connection.getresponse()
        answer = response.read().decode()
        connection.close()
        if response.status != 200:
            raise SystemExit("%s\n%s" % (text, answer))
        return [line.split("\t") for line in answer.splitlines()]

    def load(self, path, database, **settings):
        start = time.monotonic()
        with open(path, "rb") as rows:
            self.ask(ROWS_IN, database, rows, **settings)
        return time.monotonic() - start

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same(one, other):
    """Whether answers are, but for the order in which a sum was added up."""
    def names_first(row):
        return [field for field in row if number(field) is None] + row
    return len(one) == len(other) and all(
        len(a) == len(b) and all(x == y or (number(x) is not None and number(y) is not None and
                                            math.isclose(number(x), number(y), rel_tol=1e-9)) for x, y in zip(a, b))
        for a, b in zip(sorted(one, key=names_first), sorted(other, key=names_first)))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def timed(server, statement, database, runs):
    """The answer, and the seconds of each run after the first."""
    times = []
    for _ in range(runs + 1):
        start = time.monotonic()
        answer = server.ask(statement, database)
        times.append(time.monotonic() - start)
    return answer, times[1:]


def shown(times):
    return "%.0f ms (%.0f to %.0f)" % tuple(1000 * f(times) for f in (statistics.median, min, max))


def bytes_of(server, database):
    return int(server.ask("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '%s'" % database)[0][0])


def compare(servers, path, runs):
    text = servers[0].ask("SELECT version()")[0][0]
    print("ClickHouse " + text)
    version = tuple(int(part) for part in text.split(".")[:2])
    schema, *queries = [for_version(statement, version) for statement in statements("clickhouse.sql")]
    old = {"allow_experimental_low_cardinality_type": 1} if version < (20, 10) else {}
    first = servers[0]
    first.ask("CREATE DATABASE one")
    first.ask(schema, "one", **old)
    for server in servers:
        server.ask("CREATE DATABASE pieprofd_shard")
        server.ask(schema, "pieprofd_shard", **old)
        server.ask("CREATE DATABASE pieprofd")
        for statement in statements("clickhouse-cluster.sql"):
            server.ask(statement, "pieprofd", **old)
    seconds = first.load(path, "one"), first.load(path, "pieprofd", insert_distributed_sync=1)

    count = "SELECT count(), sum(self_ns), uniqExact(host) FROM pieprofd_lines"
    whole, (shards,) = first.ask(count, "one"), [[server.ask(count, "pieprofd_shard")[0] for server in servers]]
    print("rows: %s on one server; shards: %s" % (whole[0][0], " and ".join(
        "%s of %s hosts" % (shard[0], shard[2]) for shard in shards)))
    for column, name in enumerate(("rows", "time", "hosts")):
        # Hosts, too: all of a host are on one shard.
        assert sum(int(shard[column]) for shard in shards) == int(whole[0][column]), name
    assert all(int(shard[0]) for shard in shards), "a shard has no rows"
    print("loaded: %.1f s and %.1f s; on disk: %.1f MB and %.1f MB" % (*seconds, bytes_of(first, "one") / 1e6, sum(
        bytes_of(server, "pieprofd_shard") for server in servers) / 1e6))
    for index, query in enumerate(queries, 1):
        # From either server: each is a shard, and knows the other.
        (one, alone), (many, together) = timed(first, query, "one", runs), timed(first, query, "pieprofd", runs)
        assert one, "query %d: no rows" % index
        assert same(one, many), "query %d differs:\n%s\n%s" % (index, one, many)
        assert same(one, servers[1].ask(query, "pieprofd")), "query %d differs from the other server" % index
        print("query %d: the same %d rows; one server %s, cluster %s" % (index, len(one), shown(alone), shown(together)))


def main():
    path, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    http_1, http_2, *tcp = free_ports(4)
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for index, port in enumerate((http_1, http_2)):
                servers.append(Server("%s/%d" % (folder, index), port, tcp, index))
            compare(servers, path, runs)
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()
