-- Which accounts are paid at an address, in the order in which they came: those with a link to it. A
-- trigger, so that links that a process of before makes count as well.
CREATE TABLE paid_addresses (
  chain_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (chain_id, address, user_id)
);

CREATE FUNCTION keep_paid_addresses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO paid_addresses
  SELECT chain_id, destination_address, user_id, min(created_at) FROM added
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
LOCK TABLE links IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO paid_addresses
SELECT chain_id, destination_address, user_id, min(created_at) FROM links GROUP BY 1, 2, 3;
CREATE TRIGGER links_added AFTER INSERT ON links REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION keep_paid_addresses();

-- Money that reached an address and names no link, as the chain tells it, and what each account that is
-- paid there has decided of it. The rows of one account say nothing to another.
CREATE TABLE deposits (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version int NOT NULL CHECK (version > 0),
  status text COLLATE "C" NOT NULL CHECK (status IN ('seen', 'settled', 'orphaned')),
  amount numeric NOT NULL CHECK (amount > 0),
  token_address text NOT NULL,
  chain_id text NOT NULL,
  destination_address text NOT NULL,
  payer text,
  source_transaction text NOT NULL,
  occurred_at timestamptz NOT NULL,
  first_seen_at timestamptz NOT NULL,
  decision text COLLATE "C" NOT NULL DEFAULT 'unmatched'
    CHECK (decision IN ('unmatched', 'assigned', 'dismissed')),
  decided_at timestamptz,
  link_id text COLLATE "C" REFERENCES links (id),
  payment_id text COLLATE "C",
  PRIMARY KEY (id, user_id),
  CHECK ((decision = 'assigned') = (link_id IS NOT NULL AND payment_id IS NOT NULL)),
  CHECK ((decision = 'unmatched') = (decided_at IS NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX deposits_by_owner ON deposits (user_id, first_seen_at DESC, id DESC);
CREATE INDEX deposits_by_decision ON deposits (user_id, decision, first_seen_at DESC, id DESC);
CREATE INDEX deposits_assigned_by_payer ON deposits (user_id, payer) WHERE decision = 'assigned';
