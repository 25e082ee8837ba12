-- What an operator has given up for good: the dead letter as it was, and why.
CREATE TABLE discarded_letters (
  LIKE dead_letters,
  discarded_at timestamptz NOT NULL,
  discarded_because text NOT NULL,
  PRIMARY KEY (seq)
);
