-- The fields that creates with an API key sent and that had no effect. Only names, one row per key.
CREATE TABLE ignored_fields (
  key_id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL,
  names text[] NOT NULL,
  seen_at timestamptz NOT NULL
);
CREATE INDEX ignored_fields_of_user ON ignored_fields (user_id);
CREATE INDEX ignored_fields_by_age ON ignored_fields (seen_at);
