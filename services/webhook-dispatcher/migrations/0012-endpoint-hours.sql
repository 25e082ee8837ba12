-- How many attempts to each endpoint were delivered and how many failed, by the hour in UTC in which they
-- ended. Counted with their outcomes; an hour's row is rewritten by each batch of them, in its own page.
CREATE TABLE endpoint_hours (
  hour timestamptz NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  delivered int NOT NULL,
  failed int NOT NULL,
  PRIMARY KEY (hour, endpoint_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
