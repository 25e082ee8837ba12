-- How each attempt went, beside the delivery itself: a table of attempts would cost a row and an index
-- entry for every webhook, and most of them have one attempt.
ALTER TABLE deliveries
  -- The attempts that failed and were not the last, in order: six at most.
  ADD COLUMN failed_attempts jsonb;
ALTER TABLE delivery_log
  ADD COLUMN failed_attempts jsonb,
  -- Of the last attempt, whose other facts have columns.
  ADD COLUMN duration_ms int;

-- A receiver knows a delivery by its id alone.
CREATE INDEX delivery_log_by_id ON delivery_log (id);
