-- The body of the last attempt as it was sent, so that its owner can compare it with what their server received. It
-- cannot be computed later, because a body contains the link's state at send time. Null for earlier entries.
ALTER TABLE deliveries ADD COLUMN sent_body text;
ALTER TABLE delivery_log ADD COLUMN sent_body text;
