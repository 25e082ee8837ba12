-- As a next version would: one column more in the busiest table.
ALTER TABLE api_keys ADD COLUMN next_version text;
