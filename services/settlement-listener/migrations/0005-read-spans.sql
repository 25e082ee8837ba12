-- Which provider has read which blocks, until another has read them once more: behind the mark of the
-- audit a span is cut. `provider` is a hash of its address, which is a secret.
CREATE TABLE read_spans (
  chain_id text NOT NULL REFERENCES watchers,
  from_block bigint NOT NULL,
  to_block bigint NOT NULL CHECK (to_block >= from_block),
  provider text NOT NULL,
  PRIMARY KEY (chain_id, from_block)
);
