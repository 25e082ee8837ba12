-- The whole schema, written from the migrations by `SCHEMA=write npm test -- test/schema`. Not run by anything.

CREATE OR REPLACE FUNCTION keep_inbox(today date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'links_api', 'pg_temp'
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

CREATE OR REPLACE FUNCTION keep_overview()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'links_api'
AS $function$
DECLARE
  applied_ids text[];
  listed_ids text[];
  unlisted_ids text[];
BEGIN
  -- A duplicate does not need attention, because the same money is applied already.
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(id) FILTER (WHERE is_applied),
      array_agg(id) FILTER (WHERE NOT is_applied AND reason <> 'duplicate')
    INTO applied_ids, listed_ids FROM told WHERE status = 'settled';
  ELSE
    WITH changed AS (
      SELECT id, told.is_applied AND NOT known.is_applied AS is_applied_now,
        told.status = 'settled' AND NOT told.is_applied AND told.reason <> 'duplicate' AS is_listed,
        known.status = 'settled' AND NOT known.is_applied AND known.reason <> 'duplicate' AS was_listed
      FROM told JOIN known USING (id)
    )
    SELECT array_agg(id) FILTER (WHERE is_applied_now),
      array_agg(id) FILTER (WHERE is_listed AND NOT was_listed),
      array_agg(id) FILTER (WHERE was_listed AND NOT is_listed)
    INTO applied_ids, listed_ids, unlisted_ids FROM changed;
  END IF;
  IF unlisted_ids IS NOT NULL THEN
    DELETE FROM unapplied_payments USING payments, links
    WHERE payments.id = ANY (unlisted_ids) AND links.id = payments.link_id
      AND unapplied_payments.user_id = links.user_id
      AND unapplied_payments.mode = links.mode
      AND unapplied_payments.first_seen_at = payments.first_seen_at
      AND unapplied_payments.payment_id = payments.id;
  END IF;
  IF listed_ids IS NOT NULL THEN
    INSERT INTO unapplied_payments (user_id, mode, first_seen_at, payment_id)
    SELECT user_id, mode, first_seen_at, payments.id
    FROM unnest(listed_ids) AS listed_id
    JOIN payments ON payments.id = listed_id
    JOIN links ON links.id = payments.link_id;
  END IF;
  IF applied_ids IS NOT NULL THEN
    -- In a fixed order, so that two transactions that add to the same shares never deadlock. A statement can insert
    -- and update: each adds to its own shares, one after the other.
    INSERT INTO received_by_day AS kept (user_id, mode, day, token_id, share, amount, payment_count)
    SELECT user_id, mode, (applied_at AT TIME ZONE 'UTC')::date, token_id,
      abs(hashtext(applied_ids[1]) % 8) + CASE TG_OP WHEN 'INSERT' THEN 0 ELSE 8 END,
      sum(amount), count(*)
    FROM unnest(applied_ids) AS applied_id
    JOIN payments ON payments.id = applied_id
    JOIN links ON links.id = payments.link_id
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (user_id, mode, day, token_id, share) DO UPDATE SET
      amount = kept.amount + excluded.amount,
      payment_count = kept.payment_count + excluded.payment_count;
  END IF;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION keep_paid_addresses()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'links_api'
AS $function$
BEGIN
  INSERT INTO paid_addresses (chain_id, address, user_id, since, mode)
  SELECT chain_id, destination_address, user_id, min(created_at), min(mode) FROM added
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION set_link_updated_at()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'links_api'
AS $function$
BEGIN
  NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at + interval '1 microsecond');
  RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION transaction_key(hash text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (hash ~* '^(0x)?[0-9a-f]{64}$'::text) THEN "right"(lower(hash), 64) ELSE hash END;

CREATE TABLE accounts (
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  profile jsonb NOT NULL,
  told_at timestamp with time zone,
  anew_from timestamp with time zone,
  CONSTRAINT accounts_pkey PRIMARY KEY (id)
);

CREATE TABLE bitcoin_addresses (
  key_id text COLLATE "C" NOT NULL,
  address_index integer NOT NULL,
  address text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  ended_at timestamp with time zone,
  is_used boolean DEFAULT false NOT NULL,
  CONSTRAINT bitcoin_addresses_link_id_key UNIQUE (link_id),
  CONSTRAINT bitcoin_addresses_pkey PRIMARY KEY (key_id, address_index),
  CONSTRAINT bitcoin_addresses_address_index_check CHECK (address_index >= 0)
);

CREATE TABLE bitcoin_keys (
  key_id text COLLATE "C" NOT NULL,
  next_index integer NOT NULL,
  reserved_to integer DEFAULT 0 NOT NULL,
  first_index integer DEFAULT 0 NOT NULL,
  CONSTRAINT bitcoin_keys_pkey PRIMARY KEY (key_id),
  CONSTRAINT bitcoin_keys_first_index_check CHECK (first_index >= 0),
  CONSTRAINT bitcoin_keys_next_index_check CHECK (next_index >= 0),
  CONSTRAINT bitcoin_keys_reserved_to_check CHECK (reserved_to >= 0)
);

CREATE TABLE chain_advances (
  chain_id text NOT NULL,
  head_block bigint NOT NULL,
  settled_to bigint NOT NULL,
  needed_blocks bigint NOT NULL,
  told_at timestamp with time zone NOT NULL,
  needed_by_amount jsonb,
  CONSTRAINT chain_advances_pkey PRIMARY KEY (chain_id)
);

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

CREATE TABLE deposits (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  amount numeric NOT NULL,
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  payer text,
  source_transaction text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  decision text COLLATE "C" DEFAULT 'unmatched'::text NOT NULL,
  decided_at timestamp with time zone,
  link_id text COLLATE "C",
  payment_id text COLLATE "C",
  returned_at timestamp with time zone,
  shared_at timestamp with time zone,
  orphan_change_published_at timestamp with time zone,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT deposits_pkey PRIMARY KEY (id, user_id),
  CONSTRAINT deposits_amount_check CHECK (amount > 0::numeric),
  CONSTRAINT deposits_check CHECK ((decision = 'assigned'::text) = (link_id IS NOT NULL AND payment_id IS NOT NULL)),
  CONSTRAINT deposits_check1 CHECK ((decision = 'unmatched'::text) = (decided_at IS NULL)),
  CONSTRAINT deposits_decision_check CHECK (decision = ANY (ARRAY['unmatched'::text, 'assigned'::text, 'dismissed'::text])),
  CONSTRAINT deposits_status_check CHECK (status = ANY (ARRAY['seen'::text, 'settled'::text, 'orphaned'::text])),
  CONSTRAINT deposits_version_check CHECK (version > 0)
) WITH (
  fillfactor=85,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

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

CREATE TABLE heard_until (
  consumer text NOT NULL,
  topic text NOT NULL,
  partition integer NOT NULL,
  partition_count integer NOT NULL,
  heard_until timestamp with time zone NOT NULL,
  CONSTRAINT heard_until_pkey PRIMARY KEY (consumer, topic, partition),
  CONSTRAINT heard_until_check CHECK (partition_count > partition)
);

CREATE TABLE idempotency_keys (
  owner_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash bytea NOT NULL,
  answer jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, key)
) WITH (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=5000
);

CREATE TABLE ignored_fields (
  key_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  names text[] NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT ignored_fields_pkey PRIMARY KEY (key_id)
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id text NOT NULL,
  occurred_on date NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id, occurred_on)
) PARTITION BY RANGE (occurred_on);

CREATE TABLE inbox_other PARTITION OF inbox DEFAULT;

CREATE TABLE link_expiry (
  is_only boolean DEFAULT true NOT NULL,
  marked_to timestamp with time zone NOT NULL,
  CONSTRAINT link_expiry_pkey PRIMARY KEY (is_only),
  CONSTRAINT link_expiry_is_only_check CHECK (is_only)
);

CREATE TABLE links (
  id text COLLATE "C" NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  to_amount numeric NOT NULL,
  received_amount numeric DEFAULT 0 NOT NULL,
  current_usage integer DEFAULT 0 NOT NULL,
  max_usage integer,
  description text,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  deactivated_at timestamp with time zone,
  wallet_id text NOT NULL,
  wallet_provider text,
  destination_address text NOT NULL,
  token_id text NOT NULL,
  chain_id text NOT NULL,
  token_address text NOT NULL,
  payment_reference text COLLATE "C" NOT NULL,
  last_transaction_id text COLLATE "C",
  created_by text COLLATE "C",
  updated_at timestamp with time zone DEFAULT now() NOT NULL,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT links_pkey PRIMARY KEY (id),
  CONSTRAINT links_current_usage_check CHECK (current_usage >= 0),
  CONSTRAINT links_max_usage_check CHECK (max_usage > 0),
  CONSTRAINT links_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text])),
  CONSTRAINT links_received_amount_check CHECK (received_amount >= 0::numeric),
  CONSTRAINT links_status_check CHECK (status = ANY (ARRAY['active'::text, 'completed'::text, 'inactive'::text])),
  CONSTRAINT links_to_amount_check CHECK (to_amount > 0::numeric),
  CONSTRAINT links_version_check CHECK (version > 0)
) WITH (
  fillfactor=85,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=5000
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

CREATE TABLE paid_addresses (
  chain_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL,
  copied_to timestamp with time zone,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT paid_addresses_pkey PRIMARY KEY (chain_id, address, user_id)
);

CREATE TABLE payments (
  id text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  source text NOT NULL,
  source_id text NOT NULL,
  status text COLLATE "C" NOT NULL,
  is_applied boolean NOT NULL,
  reason text COLLATE "C",
  amount numeric NOT NULL,
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  source_transaction text,
  occurred_at timestamp with time zone NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  applied_at timestamp with time zone,
  is_orphaned boolean DEFAULT false NOT NULL,
  ended_at timestamp with time zone,
  orphaned_at timestamp with time zone,
  block_number bigint,
  returned_at timestamp with time zone,
  duplicate_of text COLLATE "C",
  orphan_change_published_at timestamp with time zone,
  payer text,
  unapplied_at timestamp with time zone,
  CONSTRAINT payments_source_source_id_key UNIQUE (source, source_id),
  CONSTRAINT payments_pkey PRIMARY KEY (id),
  CONSTRAINT payments_amount_check CHECK (amount > 0::numeric),
  CONSTRAINT payments_check CHECK (is_applied = (status = 'settled'::text AND reason IS NULL)),
  CONSTRAINT payments_check1 CHECK (is_applied = (applied_at IS NOT NULL)),
  CONSTRAINT payments_status_check CHECK (status = ANY (ARRAY['processing'::text, 'settled'::text, 'failed'::text])),
  CONSTRAINT payments_version_check CHECK (version > 0)
) WITH (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=5000,
  autovacuum_analyze_scale_factor=0.02,
  autovacuum_vacuum_insert_scale_factor=0.05
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

CREATE TABLE received_by_day (
  user_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  share integer NOT NULL,
  amount numeric NOT NULL,
  payment_count bigint NOT NULL,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT received_by_day_pkey PRIMARY KEY (user_id, mode, day, token_id, share),
  CONSTRAINT received_by_day_amount_check CHECK (amount > 0::numeric),
  CONSTRAINT received_by_day_payment_count_check CHECK (payment_count > 0)
) WITH (
  fillfactor=50,
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE refunds (
  id text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  amount numeric NOT NULL,
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  CONSTRAINT refunds_payment_id_transaction_id_key UNIQUE (payment_id, transaction_id),
  CONSTRAINT refunds_pkey PRIMARY KEY (id),
  CONSTRAINT refunds_amount_check CHECK (amount > 0::numeric)
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

CREATE TABLE unapplied_payments (
  user_id text COLLATE "C" NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT unapplied_payments_pkey PRIMARY KEY (user_id, mode, first_seen_at, payment_id)
);

CREATE INDEX bitcoin_addresses_by_address ON bitcoin_addresses USING btree (address);
CREATE INDEX bitcoin_addresses_used ON bitcoin_addresses USING btree (key_id, address_index) WHERE is_used;
CREATE INDEX dead_letters_by_event ON dead_letters USING btree (consumer, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX dead_letters_by_key ON dead_letters USING btree (consumer, topic, key, seq);
CREATE INDEX deposits_assigned_by_payer ON deposits USING btree (user_id, payer) WHERE decision = 'assigned'::text;
CREATE INDEX deposits_by_decision ON deposits USING btree (user_id, mode, decision, first_seen_at DESC, id DESC);
CREATE INDEX deposits_by_owner ON deposits USING btree (user_id, mode, first_seen_at DESC, id DESC);
CREATE INDEX deposits_shared ON deposits USING btree (chain_id, destination_address, shared_at) WHERE user_id = ''::text;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);
CREATE INDEX ignored_fields_by_age ON ignored_fields USING btree (seen_at);
CREATE INDEX ignored_fields_of_user ON ignored_fields USING btree (user_id);
CREATE INDEX links_by_owner ON links USING btree (user_id, mode, created_at DESC, seq DESC);
CREATE INDEX links_by_reference ON links USING hash (payment_reference);
CREATE INDEX links_by_update ON links USING btree (user_id, mode, updated_at DESC, seq DESC);
CREATE INDEX links_ended_by_owner ON links USING btree (user_id, mode, status, created_at DESC, seq DESC) WHERE status <> 'active'::text;
CREATE INDEX links_expiring ON links USING btree (expires_at) WHERE status = 'active'::text AND expires_at IS NOT NULL;
CREATE INDEX links_expiring_by_owner ON links USING btree (user_id, mode, expires_at) WHERE status = 'active'::text AND expires_at IS NOT NULL;
CREATE INDEX links_lasting_by_owner ON links USING btree (user_id, mode, created_at DESC, seq DESC) WHERE status = 'active'::text AND expires_at IS NULL;
CREATE INDEX paid_addresses_by_age ON paid_addresses USING btree (chain_id, address, since, user_id) WHERE chain_id !~~ '%bitcoin%'::text;
CREATE INDEX paid_addresses_by_owner ON paid_addresses USING btree (user_id, chain_id, address) WHERE chain_id !~~ '%bitcoin%'::text;
CREATE INDEX payments_by_link ON payments USING btree (link_id, first_seen_at DESC, id DESC);
CREATE INDEX payments_by_transaction ON payments USING btree (chain_id, transaction_key(source_transaction)) WHERE source_transaction IS NOT NULL;
CREATE INDEX payments_ended_by_link ON payments USING btree (link_id, COALESCE(ended_at, applied_at, first_seen_at), id) WHERE status <> 'processing'::text;
CREATE INDEX payments_orphaned_by_link ON payments USING btree (link_id, COALESCE(orphaned_at, ended_at, applied_at, first_seen_at), id) WHERE is_orphaned;
CREATE INDEX payments_pending_by_link ON payments USING btree (link_id, first_seen_at DESC, id DESC) WHERE status = 'processing'::text;
CREATE INDEX refunds_by_link ON refunds USING btree (link_id, recorded_at DESC, id DESC);

ALTER TABLE deposits ADD CONSTRAINT deposits_link_id_fkey
  FOREIGN KEY (link_id) REFERENCES links(id);
ALTER TABLE payments ADD CONSTRAINT payments_link_id_fkey
  FOREIGN KEY (link_id) REFERENCES links(id);
ALTER TABLE refunds ADD CONSTRAINT refunds_link_id_fkey
  FOREIGN KEY (link_id) REFERENCES links(id);

CREATE TRIGGER links_added AFTER INSERT ON links REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_paid_addresses();
CREATE TRIGGER links_updated BEFORE UPDATE ON links FOR EACH ROW WHEN (new.updated_at = old.updated_at AND (new.version IS DISTINCT FROM old.version OR new.status IS DISTINCT FROM old.status)) EXECUTE FUNCTION set_link_updated_at();
CREATE TRIGGER payments_judged AFTER UPDATE ON payments REFERENCING OLD TABLE AS known NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION keep_overview();
CREATE TRIGGER payments_judged_at_once AFTER INSERT ON payments REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION keep_overview();

GRANT DELETE, INSERT, SELECT, UPDATE ON accounts, bitcoin_addresses, bitcoin_keys, chain_advances, dead_letters, deposits, discarded_letters, heard_until, idempotency_keys, ignored_fields, inbox, inbox_other, link_expiry, links, outbox, paid_addresses, payments, positions, received_by_day, refunds, relay_lead, republishes, unapplied_payments TO links_api;
GRANT SELECT ON migrations TO links_api;
GRANT USAGE ON SEQUENCE dead_letters_seq_seq, links_seq_seq, outbox_seq_seq TO links_api;
