-- Tables of a hundred million rows are vacuumed at a fifth of them by default: twenty million dead rows.
-- A payment is updated once or twice soon after it came, and touches no index by it: the room left on
-- its page lets that be done in place.
ALTER TABLE payments SET (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
ALTER TABLE chain_transfers SET (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
-- Every row of it dies within minutes, and every poll reads it.
ALTER TABLE open_payments SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000
);

-- Up to when unmatched transfers of a chain have been forgotten: who looks for the next does not walk
-- over those that are gone.
ALTER TABLE watchers ADD COLUMN forgotten_to timestamptz;

-- In the order in which they came, by a narrow index: what has settled in the last minute is walked over.
DROP INDEX open_payments_by_block;
CREATE INDEX open_payments_by_block ON open_payments (source, block_number, seq)
  WHERE is_processing;

-- Parked payments are looked for by their age as well, from a lower bound on.
DROP INDEX open_payments_parked;
CREATE INDEX open_payments_parked ON open_payments (first_seen_at, seq) WHERE is_parked;
