-- Adds a column to the busiest table, like a migration of a future version.
ALTER TABLE deliveries ADD COLUMN next_version text;
