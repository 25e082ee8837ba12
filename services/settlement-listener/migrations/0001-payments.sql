-- The links that payments are for, as this service last heard of them from payment-links.v1.
CREATE TABLE links (
  id text PRIMARY KEY,
  version int NOT NULL CHECK (version > 0),
  chain_id text NOT NULL,
  token_address text NOT NULL,
  destination_address text NOT NULL,
  payment_reference text NOT NULL,
  payment_reference_hash text NOT NULL
);
-- A fee proxy's event carries the keccak256 of the reference and nothing else of the link.
CREATE INDEX links_by_payment_reference_hash ON links (payment_reference_hash);

-- One row per payment for ever. `source` and `source_id` name it; `version` is that of the last event
-- told of it, so 0 is a payment that nobody was told of: it is parked until its link is heard of.
CREATE TABLE payments (
  source text NOT NULL,
  source_id text NOT NULL,
  id text NOT NULL UNIQUE,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  version int NOT NULL CHECK (version >= 0),
  payment_link_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('processing', 'settled', 'failed')),
  amount numeric NOT NULL CHECK (amount > 0),
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  source_transaction text,
  occurred_at timestamptz NOT NULL,
  first_seen_at timestamptz NOT NULL,
  PRIMARY KEY (source, source_id)
);
-- Found by their link when it is heard of, in the order in which they came.
CREATE INDEX payments_parked ON payments (payment_link_id, seq) WHERE version = 0;
CREATE INDEX payments_processing ON payments (first_seen_at) WHERE status = 'processing';
