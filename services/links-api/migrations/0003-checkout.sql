-- What the checkout shows of payments that are on their way: few at any time, however many have settled.
CREATE INDEX payments_pending_by_link ON payments (link_id, first_seen_at DESC, id DESC)
  WHERE status = 'processing';

-- A reorganisation of its chain took the payment away after it had settled. It keeps its credit.
ALTER TABLE payments ADD COLUMN is_orphaned boolean NOT NULL DEFAULT false;
