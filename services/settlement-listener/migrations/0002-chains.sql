-- Who watches a chain, and how far. `fencing_token` grows with each leader, so that one that was paused
-- commits nothing after its successor; `lease_until` only says when a successor may come. `head`,
-- `state` and `reason` are the leader's last word, for operators.
CREATE TABLE watchers (
  chain_id text PRIMARY KEY,
  fencing_token bigint NOT NULL CHECK (fencing_token > 0),
  lease_until timestamptz NOT NULL,
  first_block bigint,
  scanned_to bigint,
  finalized_to bigint CHECK (finalized_to <= scanned_to),
  audited_to bigint CHECK (audited_to <= finalized_to),
  halted_reason text,
  head bigint,
  state text NOT NULL DEFAULT 'unreachable'
    CHECK (state IN ('watching', 'catching_up', 'refused', 'unreachable')),
  reason text
);

-- The scanned blocks from the last final one on: a chain of parent hashes, held against the node's.
CREATE TABLE chain_blocks (
  chain_id text NOT NULL REFERENCES watchers,
  number bigint NOT NULL,
  hash text NOT NULL,
  parent_hash text NOT NULL,
  mined_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, number)
);

-- What moved through a fee proxy, named by its transaction and its place among that receipt's logs,
-- as block and block-wide place change when the transaction is mined again. `amount` is in the token's
-- own unit. One whose reference no link has yet is kept for a while (`payment_link_id` null).
CREATE TABLE chain_transfers (
  chain_id text NOT NULL REFERENCES watchers,
  transaction_hash text NOT NULL,
  ordinal int NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  occurred_at timestamptz NOT NULL,
  reference_hash text NOT NULL,
  token_address text NOT NULL,
  destination_address text NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0),
  sender text NOT NULL,
  nonce bigint,
  state text NOT NULL CHECK (state IN ('seen', 'settled', 'final', 'failed')),
  is_orphaned boolean NOT NULL DEFAULT false,
  payment_link_id text,
  seen_at timestamptz NOT NULL,
  final_at timestamptz,
  PRIMARY KEY (chain_id, transaction_hash, ordinal)
);
CREATE INDEX chain_transfers_by_block ON chain_transfers (chain_id, block_number);
CREATE INDEX chain_transfers_open ON chain_transfers (chain_id, state, block_number)
  WHERE state IN ('seen', 'settled');
CREATE INDEX chain_transfers_orphaned ON chain_transfers (chain_id, transaction_hash)
  WHERE is_orphaned;
CREATE INDEX chain_transfers_unmatched ON chain_transfers (reference_hash)
  WHERE payment_link_id IS NULL;

-- Ranges that an operator has asked to be read again; `next_block` is how far that has come.
CREATE TABLE rescans (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id text NOT NULL,
  from_block bigint NOT NULL CHECK (from_block >= 0),
  to_block bigint NOT NULL CHECK (to_block >= from_block),
  next_block bigint NOT NULL,
  asked_at timestamptz NOT NULL
);
CREATE INDEX rescans_by_chain ON rescans (chain_id, id);

-- A payment that its chain took away after it had settled keeps its credit, and is flagged.
ALTER TABLE payments ADD COLUMN is_orphaned boolean NOT NULL DEFAULT false;
