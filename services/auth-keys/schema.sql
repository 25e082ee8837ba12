-- The whole schema, written from the migrations by `SCHEMA=write npm test -- test/schema`. Not run by anything.

CREATE OR REPLACE FUNCTION keep_inbox(today date)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'auth_keys', 'pg_temp'
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

CREATE OR REPLACE FUNCTION refuse_rewriting()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'audit_log is append-only';
END
$function$;

CREATE TABLE accounts (
  id text NOT NULL,
  version integer NOT NULL,
  handle text,
  username text NOT NULL,
  bio text,
  profile_image text,
  background_image text,
  background_colour text,
  links text[],
  date_created timestamp with time zone NOT NULL,
  suspended_at timestamp with time zone,
  has_had_default boolean DEFAULT false NOT NULL,
  verified_at timestamp with time zone,
  return_url text,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_version_check CHECK (version > 0)
);

CREATE TABLE api_keys (
  id text NOT NULL,
  account_id text NOT NULL,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  expires_at timestamp with time zone,
  is_active boolean NOT NULL,
  revoked_at timestamp with time zone,
  date_created timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  bucket_id text,
  replaced_by text,
  cidrs text[],
  requests_per_minute integer,
  burst integer,
  last_used_address text,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_burst_check CHECK (burst > 0),
  CONSTRAINT api_keys_cidrs_check CHECK (cardinality(cidrs) > 0),
  CONSTRAINT api_keys_hash_check CHECK (length(hash) = 32),
  CONSTRAINT api_keys_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text])),
  CONSTRAINT api_keys_replaced_end CHECK (replaced_by IS NULL OR expires_at IS NOT NULL),
  CONSTRAINT api_keys_requests_per_minute_check CHECK (requests_per_minute > 0),
  CONSTRAINT api_keys_scopes_check CHECK (cardinality(scopes) > 0)
);

CREATE TABLE audit_log (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  account_id text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  action text NOT NULL,
  target_id text,
  detail jsonb NOT NULL,
  id uuid DEFAULT (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid NOT NULL,
  address text,
  user_agent text,
  operator text,
  method text,
  written_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (seq),
  CONSTRAINT audit_log_actor_kind_check CHECK (actor_kind = ANY (ARRAY['operator'::text, 'session'::text, 'visitor'::text, 'scanner'::text, 'service'::text]))
);

CREATE TABLE command_sign_ins (
  device_hash bytea NOT NULL,
  user_hash bytea NOT NULL,
  device_name text NOT NULL,
  address text,
  date_created timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  denied_at timestamp with time zone,
  account_id text,
  scopes text[],
  mode text DEFAULT 'live'::text NOT NULL,
  allowed_by jsonb,
  CONSTRAINT command_sign_ins_user_hash_key UNIQUE (user_hash),
  CONSTRAINT command_sign_ins_pkey PRIMARY KEY (device_hash),
  CONSTRAINT command_sign_ins_device_hash_check CHECK (length(device_hash) = 32),
  CONSTRAINT command_sign_ins_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text])),
  CONSTRAINT command_sign_ins_user_hash_check CHECK (length(user_hash) = 32)
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

CREATE TABLE emails (
  id text NOT NULL,
  account_id text NOT NULL,
  kind text NOT NULL,
  content jsonb NOT NULL,
  status text NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  date_created timestamp with time zone NOT NULL,
  next_attempt_at timestamp with time zone NOT NULL,
  CONSTRAINT emails_pkey PRIMARY KEY (id),
  CONSTRAINT emails_status_check CHECK (status = ANY (ARRAY['pending'::text, 'sent'::text, 'summarized'::text, 'dropped'::text, 'given_up'::text]))
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE handles (
  handle text NOT NULL,
  account_id text NOT NULL,
  taken_at timestamp with time zone NOT NULL,
  CONSTRAINT handles_account_id_handle_key UNIQUE (account_id, handle),
  CONSTRAINT handles_pkey PRIMARY KEY (handle),
  CONSTRAINT handles_handle_check CHECK (handle ~ '^[a-z0-9_]{3,30}$'::text)
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

CREATE TABLE identities (
  id text NOT NULL,
  account_id text NOT NULL,
  method text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  date_created timestamp with time zone NOT NULL,
  CONSTRAINT identities_method_issuer_subject_key UNIQUE (method, issuer, subject),
  CONSTRAINT identities_pkey PRIMARY KEY (id),
  CONSTRAINT identities_method_check CHECK (method = ANY (ARRAY['siwe'::text, 'oidc'::text]))
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id text NOT NULL,
  occurred_on date NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id, occurred_on)
) PARTITION BY RANGE (occurred_on);

CREATE TABLE inbox_other PARTITION OF inbox DEFAULT;

CREATE TABLE migrations (
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE notification_settings (
  account_id text NOT NULL,
  address text,
  pending_address text,
  confirmation_hash bytea,
  confirmation_expires_at timestamp with time zone,
  language text NOT NULL,
  disabled_kinds text[] DEFAULT '{}'::text[] NOT NULL,
  CONSTRAINT notification_settings_confirmation_hash_key UNIQUE (confirmation_hash),
  CONSTRAINT notification_settings_pkey PRIMARY KEY (account_id),
  CONSTRAINT notification_settings_confirmation_hash_check CHECK (length(confirmation_hash) = 32),
  CONSTRAINT notification_settings_language_check CHECK (language = ANY (ARRAY['en'::text, 'de'::text]))
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

CREATE TABLE passkeys (
  id text NOT NULL,
  account_id text NOT NULL,
  credential_id bytea NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  name text NOT NULL,
  date_created timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_counter_check CHECK (counter >= 0)
);

CREATE TABLE pending_defaults (
  account_id text NOT NULL,
  wallet_id text NOT NULL,
  effective_at timestamp with time zone NOT NULL,
  CONSTRAINT pending_defaults_wallet_id_key UNIQUE (wallet_id),
  CONSTRAINT pending_defaults_pkey PRIMARY KEY (account_id)
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

CREATE TABLE profile_pictures (
  account_id text NOT NULL,
  digest bytea NOT NULL,
  bytes bytea NOT NULL,
  CONSTRAINT profile_pictures_pkey PRIMARY KEY (account_id),
  CONSTRAINT profile_pictures_bytes_check CHECK (length(bytes) <= 262144),
  CONSTRAINT profile_pictures_digest_check CHECK (length(digest) = 32)
);

CREATE TABLE refused_sign_ins (
  account_id text NOT NULL,
  action text NOT NULL,
  method text NOT NULL,
  since timestamp with time zone NOT NULL,
  count integer NOT NULL,
  CONSTRAINT refused_sign_ins_pkey PRIMARY KEY (account_id, action, method)
) WITH (
  fillfactor=80
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

CREATE TABLE sessions (
  id text NOT NULL,
  account_id text NOT NULL,
  hash bytea NOT NULL,
  date_created timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  method text DEFAULT 'link'::text NOT NULL,
  identity_id text,
  presence_at timestamp with time zone,
  links_api_hash bytea,
  webhook_dispatcher_hash bytea,
  device text,
  CONSTRAINT sessions_hash_key UNIQUE (hash),
  CONSTRAINT sessions_links_api_hash_key UNIQUE (links_api_hash),
  CONSTRAINT sessions_webhook_dispatcher_hash_key UNIQUE (webhook_dispatcher_hash),
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_device_check CHECK (length(device) <= 60),
  CONSTRAINT sessions_hash_check CHECK (length(hash) = 32),
  CONSTRAINT sessions_links_api_hash_check CHECK (length(links_api_hash) = 32),
  CONSTRAINT sessions_method_check CHECK (method = ANY (ARRAY['link'::text, 'siwe'::text, 'oidc'::text, 'passkey'::text])),
  CONSTRAINT sessions_webhook_dispatcher_hash_check CHECK (length(webhook_dispatcher_hash) = 32)
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE sign_in_attempts (
  hash bytea NOT NULL,
  browser_hash bytea NOT NULL,
  method text NOT NULL,
  linking_session_id text,
  expires_at timestamp with time zone NOT NULL,
  presence_session_id text,
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (hash),
  CONSTRAINT sign_in_attempts_browser_hash_check CHECK (length(browser_hash) = 32),
  CONSTRAINT sign_in_attempts_hash_check CHECK (length(hash) = 32),
  CONSTRAINT sign_in_attempts_method_check CHECK (method = ANY (ARRAY['siwe'::text, 'oidc'::text, 'passkey'::text]))
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE sign_in_tokens (
  hash bytea NOT NULL,
  account_id text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT sign_in_tokens_pkey PRIMARY KEY (hash),
  CONSTRAINT sign_in_tokens_hash_check CHECK (length(hash) = 32)
) WITH (
  autovacuum_vacuum_scale_factor=0.02,
  autovacuum_vacuum_threshold=1000
);

CREATE TABLE unsubscribe_tokens (
  hash bytea NOT NULL,
  account_id text NOT NULL,
  kinds text[] NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT unsubscribe_tokens_pkey PRIMARY KEY (hash),
  CONSTRAINT unsubscribe_tokens_hash_check CHECK (length(hash) = 32)
);

CREATE TABLE wallets (
  id text NOT NULL,
  account_id text NOT NULL,
  wallet_address text NOT NULL,
  token_id text NOT NULL,
  chain_id text NOT NULL,
  chain_type text NOT NULL,
  is_default boolean NOT NULL,
  is_chain_default boolean NOT NULL,
  provider text,
  date_created timestamp with time zone NOT NULL,
  first_addresses text[],
  first_address_index integer,
  mode text COLLATE "C" DEFAULT 'live'::text NOT NULL,
  CONSTRAINT wallets_account_id_token_id_wallet_address_key UNIQUE (account_id, token_id, wallet_address),
  CONSTRAINT wallets_pkey PRIMARY KEY (id),
  CONSTRAINT wallets_first_address_index_check CHECK (first_address_index >= 0),
  CONSTRAINT wallets_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text]))
);

CREATE INDEX api_keys_of_account ON api_keys USING btree (account_id, date_created) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX audit_log_by_id ON audit_log USING btree (id);
CREATE INDEX audit_log_of_account ON audit_log USING btree (account_id, seq);
CREATE INDEX command_sign_ins_by_end ON command_sign_ins USING btree (expires_at);
CREATE INDEX command_sign_ins_of_account ON command_sign_ins USING btree (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX dead_letters_by_event ON dead_letters USING btree (consumer, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX dead_letters_by_key ON dead_letters USING btree (consumer, topic, key, seq);
CREATE INDEX emails_by_date ON emails USING btree (date_created);
CREATE INDEX emails_due ON emails USING btree (next_attempt_at) WHERE status = 'pending'::text;
CREATE INDEX emails_of_account ON emails USING btree (account_id, kind, date_created);
CREATE INDEX emails_with_confirmation ON emails USING btree (lower(content ->> 'address'::text), date_created) WHERE kind = 'address_confirmation'::text;
CREATE INDEX identities_of_account ON identities USING btree (account_id, date_created);
CREATE INDEX passkeys_of_account ON passkeys USING btree (account_id, date_created);
CREATE INDEX pending_defaults_by_time ON pending_defaults USING btree (effective_at);
CREATE INDEX profile_pictures_by_digest ON profile_pictures USING btree (digest);
CREATE INDEX sessions_by_end ON sessions USING btree (expires_at);
CREATE INDEX sessions_of_account ON sessions USING btree (account_id, date_created);
CREATE INDEX sessions_of_identity ON sessions USING btree (identity_id) WHERE identity_id IS NOT NULL;
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts USING btree (expires_at);
CREATE INDEX sign_in_tokens_by_end ON sign_in_tokens USING btree (expires_at);
CREATE INDEX unsubscribe_tokens_by_end ON unsubscribe_tokens USING btree (expires_at);
CREATE INDEX unsubscribe_tokens_of_account ON unsubscribe_tokens USING btree (account_id);
CREATE UNIQUE INDEX wallets_one_chain_default ON wallets USING btree (account_id, chain_id) WHERE is_chain_default;
CREATE UNIQUE INDEX wallets_one_default_per_mode ON wallets USING btree (account_id, mode) WHERE is_default;

ALTER TABLE accounts ADD CONSTRAINT accounts_own_handle
  FOREIGN KEY (id, handle) REFERENCES handles(account_id, handle) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE api_keys ADD CONSTRAINT api_keys_bucket_id_fkey
  FOREIGN KEY (bucket_id) REFERENCES api_keys(id);
ALTER TABLE api_keys ADD CONSTRAINT api_keys_replaced_by_fkey
  FOREIGN KEY (replaced_by) REFERENCES api_keys(id);
ALTER TABLE handles ADD CONSTRAINT handles_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE identities ADD CONSTRAINT identities_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE notification_settings ADD CONSTRAINT notification_settings_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE passkeys ADD CONSTRAINT passkeys_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE pending_defaults ADD CONSTRAINT pending_defaults_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE pending_defaults ADD CONSTRAINT pending_defaults_wallet_id_fkey
  FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE CASCADE;
ALTER TABLE profile_pictures ADD CONSTRAINT profile_pictures_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE;
ALTER TABLE sessions ADD CONSTRAINT sessions_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE sign_in_tokens ADD CONSTRAINT sign_in_tokens_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);
ALTER TABLE wallets ADD CONSTRAINT wallets_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES accounts(id);

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log FOR EACH ROW WHEN (old.written_at > (now() - '30 days'::interval)) EXECUTE FUNCTION refuse_rewriting();

GRANT DELETE, INSERT, SELECT, UPDATE ON accounts, api_keys, audit_log, command_sign_ins, dead_letters, discarded_letters, emails, handles, heard_until, identities, inbox, inbox_other, notification_settings, outbox, passkeys, pending_defaults, positions, profile_pictures, refused_sign_ins, relay_lead, republishes, sessions, sign_in_attempts, sign_in_tokens, unsubscribe_tokens, wallets TO auth_keys;
GRANT SELECT ON migrations TO auth_keys;
GRANT USAGE ON SEQUENCE audit_log_seq_seq, dead_letters_seq_seq, outbox_seq_seq TO auth_keys;
