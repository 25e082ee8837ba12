-- Builds the index of the new primary key first, because a change of the key would block reads until it is built.
CREATE UNIQUE INDEX unapplied_payments_with_mode
  ON unapplied_payments (user_id, mode, first_seen_at, payment_id);
