-- How fast a key may be used, where that is less than the installation grants. NULL is what it grants.
-- Keys rotated from one another share a rate bucket, and so have one limit.
ALTER TABLE api_keys
  ADD COLUMN requests_per_minute int CHECK (requests_per_minute > 0),
  ADD COLUMN burst int CHECK (burst > 0);
