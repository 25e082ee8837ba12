-- A deposit is in the mode of the first link at its address (see 0038-paid-address-modes.sql).
ALTER TABLE deposits ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
