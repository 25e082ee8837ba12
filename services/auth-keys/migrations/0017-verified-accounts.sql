-- Since when the operator has vouched for the account; null if they have not. Where anyone may sign up, payers
-- are told of a seller without it (rule CALLER-38).
ALTER TABLE accounts ADD COLUMN verified_at timestamptz;
