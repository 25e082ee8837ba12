-- Adds a column to the busiest table, like a migration of a future version.
ALTER TABLE payments ADD COLUMN next_version text;
