-- The same tables in every service's schema: events leave by the outbox and enter by the inbox.

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL,
  topic text NOT NULL,
  key text NOT NULL,
  type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  traceparent text,
  value text NOT NULL
) WITH (
  -- Rows live for milliseconds: without eager vacuuming the relay would walk over their remains.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000
);

-- One row: the relay that leads, or that led last and has not said that none of its sends is under
-- way. Whoever follows one that was killed must first let the dead one's last send run out.
CREATE TABLE relay_lead (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  holder text
);
INSERT INTO relay_lead (holder) VALUES (NULL);

-- Partitioned by the event's own day, which never changes: so the key still finds a repeat.
CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id text NOT NULL,
  occurred_on date NOT NULL,
  PRIMARY KEY (consumer, event_id, occurred_on)
) PARTITION BY RANGE (occurred_on);

-- What is older than the oldest day or beyond the newest; kept small by deleting.
CREATE TABLE inbox_other PARTITION OF inbox DEFAULT;

CREATE TABLE dead_letters (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  consumer text NOT NULL,
  topic text NOT NULL,
  partition int NOT NULL,
  record_offset bigint NOT NULL,
  key text,
  event_id text,
  event_type text,
  headers jsonb NOT NULL,
  value bytea,
  reason text NOT NULL,
  parked_at timestamptz NOT NULL,
  -- The event's id belongs to the place: offsets start again when a topic is made anew.
  UNIQUE NULLS NOT DISTINCT (consumer, topic, partition, record_offset, event_id)
);
CREATE INDEX dead_letters_by_key ON dead_letters (consumer, topic, key, seq);

-- Makes the inbox's partitions for yesterday to a week ahead and drops those of more than 30 days
-- ago. The service's role has no DDL rights, so the owner's are lent to it for exactly this. PUBLIC
-- may execute: without USAGE on the schema, which one role has, nobody can name the function, and
-- it does less than the DELETE right on the inbox which that role has anyway.
CREATE FUNCTION keep_inbox(today date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  day date;
  old_partition text;
BEGIN
  -- Whoever else is at it does the same work.
  IF NOT pg_try_advisory_xact_lock(hashtextextended('keep_inbox ' || current_schema(), 0)) THEN
    RETURN;
  END IF;
  FOR day IN SELECT generate_series(today - 1, today + 7, interval '1 day')::date LOOP
    -- A day whose rows already lie in the default partition stays there: they cannot be moved
    -- cheaply.
    CONTINUE WHEN to_regclass('inbox_' || to_char(day, 'YYYYMMDD')) IS NOT NULL
      OR EXISTS (SELECT FROM inbox_other WHERE occurred_on = day);
    EXECUTE format(
      'CREATE TABLE %I PARTITION OF inbox FOR VALUES FROM (%L) TO (%L)',
      'inbox_' || to_char(day, 'YYYYMMDD'), day, day + 1
    );
  END LOOP;
  FOR old_partition IN
    SELECT child.relname FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'inbox'::regclass AND child.relname ~ '^inbox_\d{8}$'
      AND child.relname < 'inbox_' || to_char(today - 30, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %I', old_partition);
  END LOOP;
END
$$;

-- A fixed search path, temporary tables last: nobody can slip the owner another table under a name.
-- The time-out keeps a wait for the partitions' lock from holding up the consumers behind it.
DO $$
BEGIN
  EXECUTE format(
    'ALTER FUNCTION keep_inbox(date) SET search_path = %I, pg_temp', current_schema()
  );
  ALTER FUNCTION keep_inbox(date) SET lock_timeout = '1s';
END
$$;

SELECT keep_inbox((now() AT TIME ZONE 'utc')::date);
