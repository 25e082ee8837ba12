-- A settled payment that its chain took away is flagged until its chain has it again. `is_orphaned` goes on
-- saying that it was taken away, as the story of its link does, whose index stays as it is; the flag is up
-- while this is null.
ALTER TABLE payments
  -- When it was heard that its chain has it again.
  ADD COLUMN returned_at timestamptz;
