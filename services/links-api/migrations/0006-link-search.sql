-- An owner finds a link by the payment reference that stands in a transaction on chain. The reference is
-- random and never changes: a hash index is half as large as a tree of these texts, and an order's update
-- stays on its page.
CREATE INDEX links_by_reference ON links USING hash (payment_reference);
