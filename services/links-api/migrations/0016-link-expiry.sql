-- How far the expiry job has marked: one row, or none yet. What a clock that was ahead marked is taken back by
-- a process that starts once that clock is right: it knows by this where to look.
CREATE TABLE link_expiry (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  marked_to timestamptz NOT NULL
);
