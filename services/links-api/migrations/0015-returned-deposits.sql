-- A deposit that came back is not taken away again by what was told before (rule KEEP-5): that its chain took
-- it away counts under a version that is not higher only while this is null.
ALTER TABLE deposits
  -- When it was heard that its chain has it again.
  ADD COLUMN returned_at timestamptz;
