-- Which addresses of a key of Bitcoin are handed out, to which links. A key's row is what creates of links
-- on it wait for, one after another; other keys never wait.
CREATE TABLE bitcoin_keys (
  key_id text COLLATE "C" PRIMARY KEY,
  next_index int NOT NULL CHECK (next_index > 0)
);

CREATE TABLE bitcoin_addresses (
  key_id text COLLATE "C" NOT NULL,
  address_index int NOT NULL CHECK (address_index >= 0),
  address text COLLATE "C" NOT NULL,
  -- The link that has it; the one before it, where it is used again, has ended unpaid.
  link_id text COLLATE "C" NOT NULL UNIQUE,
  -- When that link ends by itself, or was deactivated.
  ended_at timestamptz,
  -- Whether a payment to it was ever seen, whatever became of it: then it is never used again.
  is_used boolean NOT NULL DEFAULT false,
  PRIMARY KEY (key_id, address_index)
);
CREATE INDEX bitcoin_addresses_by_end ON bitcoin_addresses (key_id, ended_at)
  WHERE NOT is_used AND ended_at IS NOT NULL;
CREATE INDEX bitcoin_addresses_used ON bitcoin_addresses (key_id, address_index) WHERE is_used;
CREATE INDEX bitcoin_addresses_by_address ON bitcoin_addresses (address);
