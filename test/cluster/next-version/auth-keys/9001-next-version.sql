-- Adds a column to the busiest table, like a migration of a future version.
ALTER TABLE api_keys ADD COLUMN next_version text;
