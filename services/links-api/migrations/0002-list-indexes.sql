-- A link that leaves a status leaves a dead entry in every index that has the status, until vacuum comes
-- by. When very many expire at once, a range of status would be walked over all of them. So the list of
-- all statuses gets an index without it, and active links that can expire are found by their expiry.

DROP INDEX links_by_owner;
CREATE INDEX links_by_owner ON links (user_id, created_at DESC, seq DESC);
CREATE INDEX links_ended_by_owner ON links (user_id, status, created_at DESC, seq DESC)
  WHERE status <> 'active';
CREATE INDEX links_lasting_by_owner ON links (user_id, created_at DESC, seq DESC)
  WHERE status = 'active' AND expires_at IS NULL;

ALTER TABLE links SET (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000
);
