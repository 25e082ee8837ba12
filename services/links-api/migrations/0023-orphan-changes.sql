-- A settlement-listener that was restored from a backup repeats lower versions. When the last change of the
-- orphaned flag was published decides whether such a state is newer (rule EVENT-7).
ALTER TABLE payments ADD COLUMN orphan_change_published_at timestamptz;
ALTER TABLE deposits ADD COLUMN orphan_change_published_at timestamptz;
