-- What is told of a link in order, oldest first. Of what stands here already some times are not known, and
-- stay null.

ALTER TABLE links
  -- The key or the session by which it was made.
  ADD COLUMN created_by text COLLATE "C";
ALTER TABLE payments
  -- When it settled or failed here.
  ADD COLUMN ended_at timestamptz,
  -- When it was heard that its chain took it away.
  ADD COLUMN orphaned_at timestamptz;

-- Where a time is not known, the one before it stands in for it, so that the order can be told.
CREATE INDEX payments_ended_by_link
  ON payments (link_id, coalesce(ended_at, applied_at, first_seen_at), id) WHERE status <> 'processing';
CREATE INDEX payments_orphaned_by_link
  ON payments (link_id, coalesce(orphaned_at, ended_at, applied_at, first_seen_at), id) WHERE is_orphaned;
