-- As a next version would: one column more in the busiest table.
ALTER TABLE links ADD COLUMN next_version text;
