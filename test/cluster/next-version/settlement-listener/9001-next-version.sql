-- As a next version would: one column more in the busiest table.
ALTER TABLE payments ADD COLUMN next_version text;
