-- What the overview shows, by mode. A transaction can change both of its tables in any order, so each file locks one.
ALTER TABLE unapplied_payments ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
