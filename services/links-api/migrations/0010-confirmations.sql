-- The block in which a payment stood when it was told; null of a provider's, and of what came before.
ALTER TABLE payments ADD COLUMN block_number bigint;

-- How far each chain is, as it was told last while payments on it waited. `needed_blocks` is how many blocks
-- a payment needs on top of its own: the policy's number, or else what the chain's tag needed lately.
CREATE TABLE chain_advances (
  chain_id text PRIMARY KEY,
  head_block bigint NOT NULL,
  settled_to bigint NOT NULL,
  needed_blocks bigint NOT NULL,
  told_at timestamptz NOT NULL
);
