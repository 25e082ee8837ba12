-- The sender that the token's transfer reports, so that the owner knows where to send a refund. Null if the chain
-- reports none, and for payments from before this column existed.
ALTER TABLE payments ADD COLUMN payer text;
