-- Autovacuum waits for a fifth of a table by default: of a hundred million payments, twenty million dead
-- rows. A payment leaves a dead row, and a dead entry in each index, when it settles.
ALTER TABLE payments SET (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05
);
-- Every row is deleted after a day, the oldest first: what looks for the oldest walks over the dead.
ALTER TABLE idempotency_keys SET (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000
);
