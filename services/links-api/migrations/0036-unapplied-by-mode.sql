-- Every list of unapplied payments is a list of one mode, so the mode is part of the key.
ALTER TABLE unapplied_payments
  DROP CONSTRAINT unapplied_payments_pkey,
  ADD CONSTRAINT unapplied_payments_pkey PRIMARY KEY USING INDEX unapplied_payments_with_mode;
