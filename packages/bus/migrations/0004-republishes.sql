-- What was last asked to be told again, one row per kind of thing: how far it has come, and when it
-- ended. `after_place` is the place of the last thing told, in the order in which its table is read.
CREATE TABLE republishes (
  what text PRIMARY KEY,
  asked_at timestamptz NOT NULL,
  after_place text,
  published_count int NOT NULL DEFAULT 0,
  paged_at timestamptz,
  ended_at timestamptz
);
