-- Who may do what: accounts with their handles and wallets, and the credentials that act for them.
-- Of a key, a session token or a sign-in token only its SHA-256 is kept.

CREATE TABLE accounts (
  id text PRIMARY KEY,
  version int NOT NULL CHECK (version > 0),
  handle text,
  username text NOT NULL,
  bio text,
  profile_image text,
  background_image text,
  background_colour text,
  links text[],
  date_created timestamptz NOT NULL
);

-- Every handle that an account has had. A row is never deleted: links made under a former handle go
-- on working, so nobody else may ever take it.
CREATE TABLE handles (
  handle text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{3,30}$'),
  account_id text NOT NULL REFERENCES accounts (id),
  taken_at timestamptz NOT NULL,
  UNIQUE (account_id, handle)
);

-- The current handle is one of the account's own. Deferred, as an account and its first handle
-- point at each other.
ALTER TABLE accounts ADD CONSTRAINT accounts_own_handle
  FOREIGN KEY (id, handle) REFERENCES handles (account_id, handle) DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE wallets (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  wallet_address text NOT NULL,
  token_id text NOT NULL,
  chain_id text NOT NULL,
  chain_type text NOT NULL,
  is_default boolean NOT NULL,
  is_chain_default boolean NOT NULL,
  provider text,
  date_created timestamptz NOT NULL,
  UNIQUE (account_id, token_id, wallet_address)
);
CREATE UNIQUE INDEX wallets_one_default ON wallets (account_id) WHERE is_default;
CREATE UNIQUE INDEX wallets_one_chain_default ON wallets (account_id, chain_id)
  WHERE is_chain_default;

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  prefix text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  expires_at timestamptz,
  is_active boolean NOT NULL,
  revoked_at timestamptz,
  date_created timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX api_keys_of_account ON api_keys (account_id, date_created) WHERE revoked_at IS NULL;

CREATE TABLE sessions (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  date_created timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (account_id, date_created);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE sign_in_tokens (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  account_id text NOT NULL REFERENCES accounts (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_tokens_by_end ON sign_in_tokens (expires_at);

-- What was done to an account, by whom. Written in the transaction of the deed itself.
CREATE TABLE audit_log (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  account_id text NOT NULL REFERENCES accounts (id),
  actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'session')),
  actor_id text,
  action text NOT NULL,
  target_id text,
  detail jsonb NOT NULL
);
CREATE INDEX audit_log_of_account ON audit_log (account_id, seq);

CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_log is append-only';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
