-- SPDX-License-Identifier: Apache-2.0
-- The table of clickhouse.sql on a cluster. On each node:
--
--   clickhouse client --query "CREATE DATABASE pieprofd_shard"
--   clickhouse client --database pieprofd_shard      the CREATE TABLE of clickhouse.sql
--   clickhouse client --query "CREATE DATABASE pieprofd"
--   clickhouse client --database pieprofd            this
--
-- (or once, with ON CLUSTER, where there is a Keeper). `pieprofd` is the cluster's name in remote_servers.
-- Rows go into this table of any node, and queries and dashboards ask it as they are. All rows of a host
-- are on one shard, so that no query moves rows between shards.

CREATE TABLE pieprofd_lines AS pieprofd_shard.pieprofd_lines
ENGINE = Distributed(pieprofd, pieprofd_shard, pieprofd_lines, cityHash64(host));
