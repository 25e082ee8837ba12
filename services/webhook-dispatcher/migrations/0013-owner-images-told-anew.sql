-- When what is kept of an account was told: a snapshot told much later comes from an auth-keys that may have
-- been restored, whose versions begin anew. Null, from before this was kept, counts as long ago.
ALTER TABLE owner_images ADD COLUMN told_at timestamptz;
-- Before this moment a time was told that is lost, whatever its versions.
ALTER TABLE owner_images ADD COLUMN anew_from timestamptz;
