-- Rows live for minutes or hours, and the sweep looks for the oldest: it would walk over the dead until a
-- fifth of the table is dead.
ALTER TABLE sessions SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
);
ALTER TABLE sign_in_tokens SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
);
ALTER TABLE sign_in_attempts SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
);
