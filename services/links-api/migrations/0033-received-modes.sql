-- See 0032-unapplied-payment-modes.sql.
ALTER TABLE received_by_day ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
