-- The addresses that the next links on a key will have are watched before: money that is there already is none
-- of theirs (rule CHAIN-28). Those below this index were reserved, or handed out.
ALTER TABLE bitcoin_keys ADD COLUMN reserved_to int NOT NULL DEFAULT 0 CHECK (reserved_to >= 0);
-- A key is stored once its wallet is heard of, before its first link.
ALTER TABLE bitcoin_keys DROP CONSTRAINT bitcoin_keys_next_index_check,
  ADD CONSTRAINT bitcoin_keys_next_index_check CHECK (next_index >= 0);
