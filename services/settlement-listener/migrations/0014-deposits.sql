-- A deposit is kept like a payment whose link is the deposit's own id; `payer` is who sent it, and is
-- null for payments that name a link.
ALTER TABLE chain_transfers ADD COLUMN payer text;
ALTER TABLE payments ADD COLUMN payer text;
