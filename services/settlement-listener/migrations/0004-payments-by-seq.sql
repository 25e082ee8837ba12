-- `republish` tells payments in the order in which they came, as their order decides which of a link's
-- payments count.
CREATE UNIQUE INDEX payments_by_seq ON payments (seq);
