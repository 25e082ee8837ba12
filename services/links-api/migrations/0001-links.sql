-- Payment links, the payments applied to them, and their owners as last heard of. Ids compare by byte
-- (COLLATE "C"): they are ASCII, and no language's order is wanted.

-- What each account last said of itself, whole; a higher version replaces a lower one.
CREATE TABLE accounts (
  id text COLLATE "C" PRIMARY KEY,
  version int NOT NULL,
  profile jsonb NOT NULL
);

-- `status` is what the link was last made to be. An expired link still says `active` until the expiry
-- job comes by, so every reader judges `expires_at` by its own clock; the job is for the index alone.
-- There is no foreign key to accounts: a link's owner is written by the statement that writes the link,
-- and every insert would otherwise lock the owner's row.
CREATE TABLE links (
  id text COLLATE "C" PRIMARY KEY,
  -- Tells apart, in their order, the links of one millisecond.
  seq bigint GENERATED ALWAYS AS IDENTITY,
  user_id text COLLATE "C" NOT NULL,
  version int NOT NULL CHECK (version > 0),
  status text COLLATE "C" NOT NULL CHECK (status IN ('active', 'completed', 'inactive')),
  to_amount numeric NOT NULL CHECK (to_amount > 0),
  received_amount numeric NOT NULL DEFAULT 0 CHECK (received_amount >= 0),
  current_usage int NOT NULL DEFAULT 0 CHECK (current_usage >= 0),
  max_usage int CHECK (max_usage > 0),
  description text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  deactivated_at timestamptz,
  -- The destination, fixed for ever at creation.
  wallet_id text NOT NULL,
  wallet_provider text,
  destination_address text NOT NULL,
  token_id text NOT NULL,
  chain_id text NOT NULL,
  token_address text NOT NULL,
  payment_reference text COLLATE "C" NOT NULL,
  -- The most recent payment that counted.
  last_transaction_id text COLLATE "C"
) WITH (fillfactor = 85); -- Room on the page for a payment's update, which touches no index.

-- Every list is read from this one index: a status is one range of it, and the list of all statuses
-- merges three.
CREATE INDEX links_by_owner ON links (user_id, status, created_at DESC, seq DESC);
-- The expired links of one owner that the expiry job has not come by yet.
CREATE INDEX links_expiring_by_owner ON links (user_id, expires_at)
  WHERE status = 'active' AND expires_at IS NOT NULL;
-- The expiry job's queue.
CREATE INDEX links_expiring ON links (expires_at)
  WHERE status = 'active' AND expires_at IS NOT NULL;

-- A payment as settlement-listener saw it, and what became of it here. `is_applied` and `reason` are
-- set once, when it settles.
CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  link_id text COLLATE "C" NOT NULL REFERENCES links (id),
  version int NOT NULL CHECK (version > 0),
  source text NOT NULL,
  source_id text NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('processing', 'settled', 'failed')),
  is_applied boolean NOT NULL,
  reason text COLLATE "C",
  amount numeric NOT NULL CHECK (amount > 0),
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  source_transaction text,
  occurred_at timestamptz NOT NULL,
  first_seen_at timestamptz NOT NULL,
  applied_at timestamptz,
  UNIQUE (source, source_id),
  CHECK (is_applied = (status = 'settled' AND reason IS NULL)),
  CHECK (is_applied = (applied_at IS NOT NULL))
);
CREATE INDEX payments_by_link ON payments (link_id, first_seen_at DESC, id DESC);

-- The first answer to a create that carried an Idempotency-Key; only its body's SHA-256 is kept.
CREATE TABLE idempotency_keys (
  owner_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash bytea NOT NULL,
  answer jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (owner_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
