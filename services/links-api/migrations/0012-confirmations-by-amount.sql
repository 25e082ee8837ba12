-- Where larger amounts need more blocks than `needed_blocks`: a list of `{from, blocks}`, amounts as text.
ALTER TABLE chain_advances ADD COLUMN needed_by_amount jsonb;
