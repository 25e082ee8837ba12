-- The whole schema, written from the migrations by `SCHEMA=write npm test -- test/schema`. Not run by anything.

CREATE OR REPLACE FUNCTION chain_source(chain_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN (chain_id ~ '^[0-9]'::text) THEN 'evm:'::text ELSE 'chain:'::text END || chain_id);

CREATE OR REPLACE FUNCTION keep_inbox(today date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'settlement_listener', 'pg_temp'
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

CREATE OR REPLACE FUNCTION keep_open_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.version = 0 OR NEW.status = 'processing' THEN
    INSERT INTO open_payments
    VALUES (NEW.source, NEW.source_id, NEW.seq, NEW.payment_link_id, NEW.version = 0,
            NEW.status = 'processing', NEW.block_number, NEW.first_seen_at)
    ON CONFLICT (source, source_id) DO UPDATE SET
      is_parked = excluded.is_parked, is_processing = excluded.is_processing,
      block_number = excluded.block_number;
    -- A nonce that is known stays known.
    IF TG_OP = 'INSERT' AND EXISTS (
      SELECT FROM chain_transfers
      WHERE chain_source(chain_id) = NEW.source AND chain_id = NEW.chain_id
        AND transaction_hash = NEW.source_transaction
        AND payment_link_id = NEW.payment_link_id AND nonce IS NULL
    ) THEN
      INSERT INTO nonces_to_learn
      VALUES (NEW.source, NEW.seq, NEW.source_id, NEW.payment_link_id);
    END IF;
  ELSE
    DELETE FROM open_payments WHERE source = NEW.source AND source_id = NEW.source_id;
    DELETE FROM nonces_to_learn WHERE source = NEW.source AND seq = NEW.seq;
  END IF;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION keep_owner_addresses()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'settlement_listener'
AS $function$
BEGIN
  INSERT INTO owner_addresses (chain_id, address)
  SELECT DISTINCT chain_id, destination_address FROM added
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION known_since(transfer chain_transfers)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'settlement_listener'
AS $function$
BEGIN
  IF transfer.is_orphaned THEN
    RETURN transfer.seen_at;
  END IF;
  RETURN least(transfer.seen_at, (
    SELECT scanned_at FROM scanned_heights
    WHERE chain_id = transfer.chain_id AND height >= transfer.block_number
    ORDER BY height LIMIT 1
  ));
END
$function$;

CREATE TABLE chain_blocks (
  chain_id text NOT NULL,
  number bigint NOT NULL,
  hash text NOT NULL,
  parent_hash text NOT NULL,
  mined_at timestamp with time zone NOT NULL,
  CONSTRAINT chain_blocks_pkey PRIMARY KEY (chain_id, number)
);

CREATE TABLE chain_transfers (
  chain_id text NOT NULL,
  transaction_hash text NOT NULL,
  ordinal integer NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  reference_hash text NOT NULL,
  token_address text NOT NULL,
  destination_address text NOT NULL,
  amount numeric NOT NULL,
  sender text NOT NULL,
  nonce bigint,
  state text DEFAULT 'seen'::text NOT NULL,
  is_orphaned boolean DEFAULT false NOT NULL,
  payment_link_id text,
  seen_at timestamp with time zone NOT NULL,
  final_at timestamp with time zone,
  payer text,
  CONSTRAINT chain_transfers_pkey PRIMARY KEY (chain_id, transaction_hash, reference_hash, ordinal),
  CONSTRAINT chain_transfers_amount_check CHECK (amount > 0::numeric),
  CONSTRAINT chain_transfers_state_check CHECK (state = ANY (ARRAY['seen'::text, 'settled'::text, 'final'::text, 'failed'::text]))
) WITH (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=10000,
  autovacuum_vacuum_insert_scale_factor=0.02,
  autovacuum_analyze_scale_factor=0.02
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

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id text NOT NULL,
  occurred_on date NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id, occurred_on)
) PARTITION BY RANGE (occurred_on);

CREATE TABLE inbox_other PARTITION OF inbox DEFAULT;

CREATE TABLE links (
  id text NOT NULL,
  version integer NOT NULL,
  chain_id text NOT NULL,
  token_address text NOT NULL,
  destination_address text NOT NULL,
  payment_reference text NOT NULL,
  payment_reference_hash text NOT NULL,
  paid_from timestamp with time zone,
  CONSTRAINT links_pkey PRIMARY KEY (id),
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

CREATE TABLE nonces_to_learn (
  source text NOT NULL,
  seq bigint NOT NULL,
  source_id text NOT NULL,
  payment_link_id text NOT NULL,
  CONSTRAINT nonces_to_learn_pkey PRIMARY KEY (source, seq)
) WITH (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=1000
);

CREATE TABLE open_payments (
  source text NOT NULL,
  source_id text NOT NULL,
  seq bigint NOT NULL,
  payment_link_id text NOT NULL,
  is_parked boolean NOT NULL,
  is_processing boolean NOT NULL,
  block_number bigint,
  first_seen_at timestamp with time zone NOT NULL,
  CONSTRAINT open_payments_pkey PRIMARY KEY (source, source_id)
) WITH (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  autovacuum_vacuum_cost_delay=0,
  autovacuum_analyze_scale_factor=0,
  autovacuum_analyze_threshold=1000
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

CREATE TABLE owner_addresses (
  chain_id text NOT NULL,
  address text NOT NULL,
  heard_at timestamp with time zone DEFAULT now() NOT NULL,
  added_by xid8 DEFAULT pg_current_xact_id() NOT NULL,
  user_id text,
  paid_at timestamp with time zone,
  CONSTRAINT owner_addresses_pkey PRIMARY KEY (chain_id, address)
);

CREATE TABLE payments (
  source text NOT NULL,
  source_id text NOT NULL,
  id text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  version integer NOT NULL,
  payment_link_id text NOT NULL,
  status text NOT NULL,
  amount numeric NOT NULL,
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  source_transaction text,
  occurred_at timestamp with time zone NOT NULL,
  first_seen_at timestamp with time zone NOT NULL,
  is_orphaned boolean DEFAULT false NOT NULL,
  block_number bigint,
  payer text,
  witnessed_at timestamp with time zone,
  CONSTRAINT payments_id_key UNIQUE (id),
  CONSTRAINT payments_pkey PRIMARY KEY (source, source_id),
  CONSTRAINT payments_amount_check CHECK (amount > 0::numeric),
  CONSTRAINT payments_source_id_check CHECK (source ~~ 'provider:%'::text OR source_id ~~ '%:%:%'::text),
  CONSTRAINT payments_status_check CHECK (status = ANY (ARRAY['processing'::text, 'settled'::text, 'failed'::text])),
  CONSTRAINT payments_version_check CHECK (version >= 0)
) WITH (
  fillfactor=85,
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=10000,
  autovacuum_vacuum_insert_scale_factor=0.02,
  autovacuum_analyze_scale_factor=0.02
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

CREATE TABLE read_spans (
  chain_id text NOT NULL,
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  provider text NOT NULL,
  CONSTRAINT read_spans_pkey PRIMARY KEY (chain_id, from_block),
  CONSTRAINT read_spans_check CHECK (to_block >= from_block)
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

CREATE TABLE rescans (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  chain_id text NOT NULL,
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  next_block bigint NOT NULL,
  asked_at timestamp with time zone NOT NULL,
  CONSTRAINT rescans_pkey PRIMARY KEY (id),
  CONSTRAINT rescans_check CHECK (to_block >= from_block),
  CONSTRAINT rescans_from_block_check CHECK (from_block >= 0)
);

CREATE TABLE scanned_heights (
  chain_id text NOT NULL,
  height bigint NOT NULL,
  scanned_at timestamp with time zone NOT NULL,
  CONSTRAINT scanned_heights_pkey PRIMARY KEY (chain_id, height)
);

CREATE TABLE watchers (
  chain_id text NOT NULL,
  fencing_token bigint NOT NULL,
  lease_until timestamp with time zone NOT NULL,
  first_block bigint,
  scanned_to bigint,
  finalized_to bigint,
  audited_to bigint,
  halted_reason text,
  head bigint,
  state text DEFAULT 'unreachable'::text NOT NULL,
  reason text,
  forgotten_to timestamp with time zone,
  advance_told_at timestamp with time zone,
  advance_due_at timestamp with time zone,
  CONSTRAINT watchers_pkey PRIMARY KEY (chain_id),
  CONSTRAINT watchers_check CHECK (finalized_to <= scanned_to),
  CONSTRAINT watchers_check1 CHECK (audited_to <= finalized_to),
  CONSTRAINT watchers_fencing_token_check CHECK (fencing_token > 0),
  CONSTRAINT watchers_state_check CHECK (state = ANY (ARRAY['watching'::text, 'catching_up'::text, 'refused'::text, 'unreachable'::text]))
);

CREATE INDEX chain_transfers_by_block ON chain_transfers USING btree (chain_id, block_number);
CREATE INDEX chain_transfers_unmatched ON chain_transfers USING btree (reference_hash) WHERE payment_link_id IS NULL;
CREATE INDEX chain_transfers_unmatched_by_age ON chain_transfers USING btree (chain_id, seen_at) WHERE payment_link_id IS NULL;
CREATE INDEX dead_letters_by_event ON dead_letters USING btree (consumer, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX dead_letters_by_key ON dead_letters USING btree (consumer, topic, key, seq);
CREATE INDEX links_by_payment_reference_hash ON links USING btree (payment_reference_hash);
CREATE INDEX open_payments_by_block ON open_payments USING btree (source, block_number, seq) WHERE is_processing;
CREATE INDEX open_payments_by_link ON open_payments USING btree (payment_link_id, seq) WHERE is_parked;
CREATE INDEX open_payments_parked ON open_payments USING btree (first_seen_at, seq) WHERE is_parked;
CREATE INDEX open_payments_processing ON open_payments USING btree (first_seen_at) WHERE is_processing;
CREATE INDEX owner_addresses_by_news ON owner_addresses USING btree (chain_id, added_by);
CREATE UNIQUE INDEX payments_by_seq ON payments USING btree (seq);
CREATE INDEX payments_orphaned ON payments USING btree (source) WHERE is_orphaned;
CREATE INDEX rescans_by_chain ON rescans USING btree (chain_id, id);

ALTER TABLE chain_blocks ADD CONSTRAINT chain_blocks_chain_id_fkey
  FOREIGN KEY (chain_id) REFERENCES watchers(chain_id);
ALTER TABLE read_spans ADD CONSTRAINT read_spans_chain_id_fkey
  FOREIGN KEY (chain_id) REFERENCES watchers(chain_id);

CREATE TRIGGER links_added AFTER INSERT ON links REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_owner_addresses();
CREATE TRIGGER payments_moved AFTER UPDATE ON payments FOR EACH ROW WHEN (old.version = 0 OR old.status = 'processing'::text OR new.status = 'processing'::text) EXECUTE FUNCTION keep_open_payment();
CREATE TRIGGER payments_opened AFTER INSERT ON payments FOR EACH ROW WHEN (new.version = 0 OR new.status = 'processing'::text) EXECUTE FUNCTION keep_open_payment();

GRANT DELETE, INSERT, SELECT, UPDATE ON chain_blocks, chain_transfers, dead_letters, discarded_letters, heard_until, inbox, inbox_other, links, nonces_to_learn, open_payments, outbox, owner_addresses, payments, positions, read_spans, relay_lead, republishes, rescans, scanned_heights, watchers TO settlement_listener;
GRANT SELECT ON migrations TO settlement_listener;
GRANT USAGE ON SEQUENCE dead_letters_seq_seq, outbox_seq_seq, payments_seq_seq, rescans_id_seq TO settlement_listener;
