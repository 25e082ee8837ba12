-- Every list of an owner is a list of one mode, so the mode is part of its index.
ALTER TABLE links VALIDATE CONSTRAINT links_mode_check;
CREATE INDEX links_by_owner_and_mode ON links (user_id, mode, created_at DESC, seq DESC);
CREATE INDEX links_ended_by_owner_and_mode ON links (user_id, mode, status, created_at DESC, seq DESC)
  WHERE status <> 'active';
CREATE INDEX links_lasting_by_owner_and_mode ON links (user_id, mode, created_at DESC, seq DESC)
  WHERE status = 'active' AND expires_at IS NULL;
CREATE INDEX links_expiring_by_owner_and_mode ON links (user_id, mode, expires_at)
  WHERE status = 'active' AND expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS links_by_update ON links (user_id, mode, updated_at DESC, seq DESC);
