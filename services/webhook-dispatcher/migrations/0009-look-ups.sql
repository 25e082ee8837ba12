-- What people look for in the log: what a delivery is about, and the entries of one state or one type. An
-- index in ascending order grows at its end, so its pages stay full; it is read backwards.
ALTER TABLE delivery_log
  -- Null for what was over before this.
  ADD COLUMN link_id text COLLATE "C",
  ADD COLUMN payment_id text COLLATE "C";

CREATE INDEX deliveries_by_kind ON deliveries (endpoint_id, event_type, date_created, id);
DROP INDEX deliveries_page;
CREATE INDEX delivery_log_by_kind ON delivery_log
  (endpoint_id, status, event_type, date_created, id);
DROP INDEX delivery_log_page;
