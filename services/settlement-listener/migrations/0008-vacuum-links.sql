-- A link's row is rewritten at each of its events. By default a fifth of a table that grows for ever would
-- be dead before vacuum runs, and events would find no room on their row's own page.
ALTER TABLE links SET (
  fillfactor = 85,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
