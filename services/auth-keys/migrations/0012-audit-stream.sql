-- The other services tell of their deeds too, under ids that they gave, and more than once. The account may be
-- one that a restored database does not know: an entry is kept all the same.
CREATE UNIQUE INDEX audit_log_by_id ON audit_log (id);
ALTER TABLE audit_log
  -- How the person had signed in, or tried to.
  ADD COLUMN method text,
  DROP CONSTRAINT audit_log_account_id_fkey;
