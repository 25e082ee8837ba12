-- The whole schema, written from the migrations by `SCHEMA=write npm test -- test/schema`. Not run by anything.

CREATE OR REPLACE FUNCTION keep_delivery_log(today date, kept_days integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'webhook_dispatcher', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION keep_inbox(today date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'webhook_dispatcher', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
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
$function$;

CREATE TABLE dead_letters (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  record_offset bigint NOT NULL,
  key text,
  event_id text,
  event_type text,
  headers jsonb NOT NULL,
  value bytea,
  reason text NOT NULL,
  parked_at timestamp with time zone NOT NULL,
  CONSTRAINT dead_letters_consumer_topic_partition_record_offset_event_i_key UNIQUE NULLS NOT DISTINCT (consumer, topic, partition, record_offset, event_id),
  CONSTRAINT dead_letters_pkey PRIMARY KEY (seq)
);

CREATE TABLE deliveries (
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  transaction jsonb,
  traceparent text,
  date_created timestamp with time zone NOT NULL,
  attempts smallint DEFAULT 0 NOT NULL,
  last_attempt_at timestamp with time zone,
  http_status smallint,
  error text,
  next_attempt_at timestamp with time zone,
  lease_until timestamp with time zone,
  abandoned_as text,
  failed_attempts jsonb,
  sent_body text,
  CONSTRAINT deliveries_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id),
  CONSTRAINT deliveries_check CHECK (num_nonnulls(next_attempt_at, lease_until) = 1)
) WITH (
  autovacuum_vacuum_scale_factor=0.01
);

CREATE TABLE delivery_log (
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  occurred_on date NOT NULL,
  event_type text NOT NULL,
  date_created timestamp with time zone NOT NULL,
  status text NOT NULL,
  attempts smallint NOT NULL,
  last_attempt_at timestamp with time zone,
  http_status smallint,
  error text,
  link_id text COLLATE "C",
  payment_id text COLLATE "C",
  failed_attempts jsonb,
  duration_ms integer,
  sent_body text,
  CONSTRAINT delivery_log_pkey PRIMARY KEY (event_id, endpoint_id, occurred_on),
  CONSTRAINT delivery_log_status_check CHECK (status = ANY (ARRAY['Delivered'::text, 'Failed'::text]))
) PARTITION BY RANGE (occurred_on);

CREATE TABLE delivery_log_other PARTITION OF delivery_log DEFAULT;

CREATE TABLE discarded_letters (
  seq bigint NOT NULL,
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  record_offset bigint NOT NULL,
  key text,
  event_id text,
  event_type text,
  headers jsonb NOT NULL,
  value bytea,
  reason text NOT NULL,
  parked_at timestamp with time zone NOT NULL,
  discarded_at timestamp with time zone NOT NULL,
  discarded_because text NOT NULL,
  CONSTRAINT discarded_letters_pkey PRIMARY KEY (seq)
);

CREATE TABLE endpoint_hours (
  hour timestamp with time zone NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  delivered integer NOT NULL,
  failed integer NOT NULL,
  CONSTRAINT endpoint_hours_pkey PRIMARY KEY (hour, endpoint_id)
) WITH (
  fillfactor=50,
  autovacuum_vacuum_scale_factor=0.02
);

CREATE TABLE endpoints (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  secret_prefix text NOT NULL,
  sealed_secret bytea NOT NULL,
  secret_key_name text NOT NULL,
  last_outcome text,
  consecutive_failures integer DEFAULT 0 NOT NULL,
  date_created timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  origin text COLLATE "C" GENERATED ALWAYS AS (COALESCE("substring"(url, '^[^:]*://[^/?#]*'::text), url)) STORED,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT endpoints_last_outcome_check CHECK (last_outcome = ANY (ARRAY['Delivered'::text, 'Failed'::text])),
  CONSTRAINT endpoints_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text]))
);

CREATE TABLE heard_until (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  partition_count integer NOT NULL,
  heard_until timestamp with time zone NOT NULL,
  CONSTRAINT heard_until_pkey PRIMARY KEY (consumer, topic, partition),
  CONSTRAINT heard_until_check CHECK (partition_count > partition)
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id text NOT NULL,
  occurred_on date NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id, occurred_on)
) PARTITION BY RANGE (occurred_on);

CREATE TABLE inbox_other PARTITION OF inbox DEFAULT;

CREATE TABLE links (
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  status text NOT NULL,
  to_amount numeric NOT NULL,
  received_amount numeric NOT NULL,
  current_usage integer NOT NULL,
  max_usage integer,
  description text,
  expiration_date timestamp with time zone,
  chain_id text NOT NULL,
  token_address text NOT NULL,
  told_at timestamp with time zone,
  CONSTRAINT links_pkey PRIMARY KEY (id)
) WITH (
  fillfactor=85,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=5000
);

CREATE TABLE listener_events (
  listener_id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  transaction jsonb,
  CONSTRAINT listener_events_pkey PRIMARY KEY (listener_id, number)
) WITH (
  autovacuum_vacuum_scale_factor=0.01
);

CREATE TABLE listeners (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,
  sealed_secret bytea NOT NULL,
  secret_key_name text NOT NULL,
  date_created timestamp with time zone NOT NULL,
  last_contact_at timestamp with time zone NOT NULL,
  last_number bigint DEFAULT 0 NOT NULL,
  acknowledged_number bigint DEFAULT 0 NOT NULL,
  CONSTRAINT listeners_pkey PRIMARY KEY (id),
  CONSTRAINT listeners_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text]))
);

CREATE TABLE migrations (
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id text NOT NULL,
  topic text NOT NULL,
  key text NOT NULL,
  type text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  traceparent text,
  value text NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (seq)
) WITH (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_insert_scale_factor=0,
  autovacuum_vacuum_insert_threshold=10000
);

CREATE TABLE owner_images (
  account_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  profile_image text,
  background_image text,
  told_at timestamp with time zone,
  anew_from timestamp with time zone,
  CONSTRAINT owner_images_pkey PRIMARY KEY (account_id)
);

CREATE TABLE positions (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  cluster_id text NOT NULL,
  next_offset bigint NOT NULL,
  reset_count integer DEFAULT 0 NOT NULL,
  last_offset bigint,
  last_record text,
  CONSTRAINT positions_pkey PRIMARY KEY (consumer, topic, partition),
  CONSTRAINT positions_next_offset_check CHECK (next_offset >= 0)
) WITH (
  fillfactor=50,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=500
);

CREATE TABLE relay_lead (
  is_only boolean DEFAULT true NOT NULL,
  holder text,
  CONSTRAINT relay_lead_pkey PRIMARY KEY (is_only),
  CONSTRAINT relay_lead_is_only_check CHECK (is_only)
);

CREATE TABLE republishes (
  what text NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  after_place text,
  published_count integer DEFAULT 0 NOT NULL,
  paged_at timestamp with time zone,
  ended_at timestamp with time zone,
  CONSTRAINT republishes_pkey PRIMARY KEY (what)
);

CREATE INDEX dead_letters_by_event ON dead_letters USING btree (consumer, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX dead_letters_by_key ON dead_letters USING btree (consumer, topic, key, seq);
CREATE INDEX deliveries_by_kind ON deliveries USING btree (endpoint_id, event_type, date_created, id);
CREATE INDEX deliveries_leased ON deliveries USING btree (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX deliveries_of_link ON deliveries USING btree (link_id);
CREATE INDEX deliveries_waiting ON deliveries USING btree (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX delivery_log_by_id ON ONLY delivery_log USING btree (id);
CREATE INDEX delivery_log_by_kind ON ONLY delivery_log USING btree (endpoint_id, status, event_type, date_created, id);
CREATE INDEX delivery_log_of_link ON ONLY delivery_log USING btree (link_id, date_created, id);
CREATE INDEX endpoints_of_user ON endpoints USING btree (user_id) WHERE deleted_at IS NULL;
CREATE INDEX listeners_by_contact ON listeners USING btree (last_contact_at);
CREATE INDEX listeners_of_user ON listeners USING btree (user_id);

ALTER TABLE listener_events ADD CONSTRAINT listener_events_listener_id_fkey
  FOREIGN KEY (listener_id) REFERENCES listeners(id) ON DELETE CASCADE;

GRANT DELETE, INSERT, SELECT, UPDATE ON dead_letters, deliveries, delivery_log, delivery_log_other, discarded_letters, endpoint_hours, endpoints, heard_until, inbox, inbox_other, links, listener_events, listeners, outbox, owner_images, positions, relay_lead, republishes TO webhook_dispatcher;
GRANT SELECT ON migrations TO webhook_dispatcher;
GRANT USAGE ON SEQUENCE dead_letters_seq_seq, outbox_seq_seq TO webhook_dispatcher;
