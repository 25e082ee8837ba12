-- What is over leaves the queue for a log of daily partitions, which are dropped once they are old:
-- `deliveries` stays as small as what is owed, and nothing of the log is ever deleted row by row.

-- Partitioned by the event's own day, which never changes: so the key still finds a repeat.
CREATE TABLE delivery_log (
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  occurred_on date NOT NULL,
  event_type text NOT NULL,
  date_created timestamptz NOT NULL,
  status text NOT NULL CHECK (status IN ('Delivered', 'Failed')),
  attempts smallint NOT NULL,
  last_attempt_at timestamptz,
  http_status smallint,
  error text,
  PRIMARY KEY (event_id, endpoint_id, occurred_on)
) PARTITION BY RANGE (occurred_on);
CREATE INDEX delivery_log_page ON delivery_log (endpoint_id, date_created DESC, id DESC);

-- Events heard of long after their day, or from the future; kept small by deleting.
CREATE TABLE delivery_log_other PARTITION OF delivery_log DEFAULT;

-- Makes the log's partitions for yesterday to a week ahead and drops those of days that are older than
-- what is kept. The owner's rights are lent to the service's role for exactly this, as for its inbox:
-- it does less than the DELETE right on the log which that role has anyway.
CREATE FUNCTION keep_delivery_log(today date, kept_days int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  day date;
  old_partition text;
BEGIN
  -- Whoever else is at it does the same work.
  IF NOT pg_try_advisory_xact_lock(
    hashtextextended('keep_delivery_log ' || current_schema(), 0)
  ) THEN
    RETURN;
  END IF;
  FOR day IN SELECT generate_series(today - 1, today + 7, interval '1 day')::date LOOP
    -- A day whose rows already lie in the default partition stays there: they cannot be moved
    -- cheaply.
    CONTINUE WHEN to_regclass('delivery_log_' || to_char(day, 'YYYYMMDD')) IS NOT NULL
      OR EXISTS (SELECT FROM delivery_log_other WHERE occurred_on = day);
    EXECUTE format(
      'CREATE TABLE %I PARTITION OF delivery_log FOR VALUES FROM (%L) TO (%L)',
      'delivery_log_' || to_char(day, 'YYYYMMDD'), day, day + 1
    );
  END LOOP;
  FOR old_partition IN
    SELECT child.relname FROM pg_inherits
    JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = 'delivery_log'::regclass AND child.relname ~ '^delivery_log_\d{8}$'
      AND child.relname < 'delivery_log_' || to_char(today - kept_days, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE %I', old_partition);
  END LOOP;
END
$$;

-- A fixed search path, temporary tables last: nobody can slip the owner another table under a name.
-- The time-out keeps a wait for the partitions' lock from holding up the attempts behind it.
DO $$
BEGIN
  EXECUTE format(
    'ALTER FUNCTION keep_delivery_log(date, int) SET search_path = %I, pg_temp', current_schema()
  );
  ALTER FUNCTION keep_delivery_log(date, int) SET lock_timeout = '1s';
END
$$;

SELECT keep_delivery_log((now() AT TIME ZONE 'utc')::date, 30);

INSERT INTO delivery_log
  (id, event_id, endpoint_id, occurred_on, event_type, date_created, status, attempts,
   last_attempt_at, http_status, error)
SELECT id, event_id, endpoint_id, (occurred_at AT TIME ZONE 'utc')::date, event_type, date_created,
       status, attempts, last_attempt_at, http_status, error
FROM deliveries WHERE status <> 'Pending';
DELETE FROM deliveries WHERE status <> 'Pending';

-- Takes the old check with it; what is left here is pending.
ALTER TABLE deliveries DROP COLUMN status;
ALTER TABLE deliveries ADD CHECK (num_nonnulls(next_attempt_at, lease_until) = 1);
ALTER INDEX deliveries_log RENAME TO deliveries_page;
