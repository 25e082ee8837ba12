-- Since when an operator keeps the account's keys, sessions and links from working.
ALTER TABLE accounts ADD COLUMN suspended_at timestamptz;
