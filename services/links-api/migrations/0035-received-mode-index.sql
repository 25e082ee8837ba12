-- See 0034-unapplied-payment-mode-index.sql.
CREATE UNIQUE INDEX received_by_day_with_mode ON received_by_day (user_id, mode, day, token_id, share);
