-- What was told about one link, over all endpoints of its owner. Of one link there waits little.
CREATE INDEX deliveries_of_link ON deliveries (link_id);
CREATE INDEX delivery_log_of_link ON delivery_log (link_id, date_created, id);
