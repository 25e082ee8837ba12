-- As a next version would: one column more in the busiest table.
ALTER TABLE deliveries ADD COLUMN next_version text;
