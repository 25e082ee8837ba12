-- How far a consumer has come in each partition of a topic: written by the transaction that applies
-- what lies before it, so that a restored database reads again what it lacks. `cluster_id` says whose
-- offsets these are.
CREATE TABLE positions (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition int NOT NULL,
  cluster_id text NOT NULL,
  next_offset bigint NOT NULL CHECK (next_offset >= 0),
  PRIMARY KEY (consumer, topic, partition)
) WITH (
  -- A few rows, rewritten with every chunk.
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500
);
