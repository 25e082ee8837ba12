-- Endpoints, what is owed to each, and each link's last known state.

CREATE TABLE endpoints (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL,
  secret_prefix text NOT NULL,
  -- AES-256-GCM; the key's name stands beside it, so that keys can be rotated.
  sealed_secret bytea NOT NULL,
  secret_key_name text NOT NULL,
  last_outcome text CHECK (last_outcome IN ('Delivered', 'Failed')),
  consecutive_failures int NOT NULL DEFAULT 0,
  date_created timestamptz NOT NULL,
  -- A deleted endpoint stays for its log.
  deleted_at timestamptz
);
CREATE INDEX endpoints_of_user ON endpoints (user_id) WHERE deleted_at IS NULL;

CREATE TABLE links (
  id text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  status text NOT NULL,
  to_amount numeric NOT NULL,
  received_amount numeric NOT NULL,
  current_usage int NOT NULL,
  max_usage int,
  description text,
  expiration_date timestamptz,
  chain_id text NOT NULL,
  token_address text NOT NULL
);

CREATE TABLE deliveries (
  -- What receivers know as the event's id: one per event and endpoint, the same on every attempt.
  id text COLLATE "C" PRIMARY KEY,
  -- The id of the record on the bus.
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL REFERENCES endpoints,
  link_id text COLLATE "C" NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  transaction jsonb,
  traceparent text,
  date_created timestamptz NOT NULL,
  status text NOT NULL DEFAULT 'Pending' CHECK (status IN ('Pending', 'Delivered', 'Failed')),
  attempts smallint NOT NULL DEFAULT 0,
  last_attempt_at timestamptz,
  http_status smallint,
  error text,
  -- A pending delivery either waits for its next attempt or is leased to the process that makes it.
  next_attempt_at timestamptz,
  lease_until timestamptz,
  -- Set when its endpoint went while an attempt was under way: what it ends with unless that succeeds.
  abandoned_as text,
  UNIQUE (event_id, endpoint_id),
  CHECK (num_nonnulls(next_attempt_at, lease_until) = CASE status WHEN 'Pending' THEN 1 ELSE 0 END)
) WITH (
  -- Each attempt rewrites its row twice; vacuum must keep up, not wait for a fifth of a large log.
  autovacuum_vacuum_scale_factor = 0.01
);
-- The queue: only what waits, so that claims cost the same however long the log grows.
CREATE INDEX deliveries_waiting ON deliveries (endpoint_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX deliveries_log ON deliveries (endpoint_id, date_created DESC, id DESC);
