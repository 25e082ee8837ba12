-- Refunds that owners recorded after they had sent them with their own wallets. Nothing verifies them.
CREATE TABLE refunds (
  id text COLLATE "C" PRIMARY KEY,
  link_id text COLLATE "C" NOT NULL REFERENCES links (id),
  payment_id text COLLATE "C" NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0),
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  recorded_at timestamptz NOT NULL,
  UNIQUE (payment_id, transaction_id)
);
CREATE INDEX refunds_by_link ON refunds (link_id, recorded_at DESC, id DESC);
