-- When a quorum of a chain's providers had first seen a payment's transaction: a payment is late by the earlier
-- of this and its block's time (rule STATE-15). Null until then, and for notices.
ALTER TABLE payments ADD COLUMN witnessed_at timestamptz;
