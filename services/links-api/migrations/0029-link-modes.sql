-- One installation serves live and test mode. Existing rows are live, even on a test network, so that nothing changes
-- for them. Each file up to 0041 locks one of the growing tables, for reads only while it changes the catalog. Some
-- databases have these columns and indexes from 0029-modes.sql, which changed everything in one transaction.
ALTER TABLE links ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
ALTER TABLE links
  DROP CONSTRAINT IF EXISTS links_mode_check,
  ADD CONSTRAINT links_mode_check CHECK (mode IN ('live', 'test')) NOT VALID;
