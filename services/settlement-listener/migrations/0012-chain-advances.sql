-- When others were last told how far the chain is, which they are every few seconds while payments wait.
ALTER TABLE watchers ADD COLUMN advance_told_at timestamptz;
