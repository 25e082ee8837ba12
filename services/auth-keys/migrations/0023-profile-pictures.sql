-- The uploaded profile picture of an account, already decoded and encoded again, so the bytes are ours. Replacing or
-- removing the picture deletes them. Accounts with the same picture have the same digest, the SHA-256 of the bytes.
CREATE TABLE profile_pictures (
  account_id text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  bytes bytea NOT NULL CHECK (length(bytes) <= 262144)
);
CREATE INDEX profile_pictures_by_digest ON profile_pictures (digest);
