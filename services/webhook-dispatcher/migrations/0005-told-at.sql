-- When the newest of what was heard of a link became true. What is not newer by version or time was heard
-- before; a snapshot that is much newer comes from a source that was restored, whose versions begin anew.
ALTER TABLE links ADD COLUMN told_at timestamptz;
