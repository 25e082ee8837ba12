-- Addresses of a key below this index are left to its owner's own wallet app.
ALTER TABLE bitcoin_keys ADD COLUMN first_index int NOT NULL DEFAULT 0 CHECK (first_index >= 0);
