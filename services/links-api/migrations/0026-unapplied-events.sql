-- When it was published that a settled payment is not applied, so that it is published only once
-- although the payment can be evaluated again. Null for payments from before this column.
ALTER TABLE payments ADD COLUMN unapplied_at timestamptz;
