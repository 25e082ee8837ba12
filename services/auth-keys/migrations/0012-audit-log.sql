-- The other services tell of their deeds too, under ids that they gave, and more than once. The account may be
-- one that a restored database does not know: an entry is kept all the same.
CREATE UNIQUE INDEX audit_log_by_id ON audit_log (id);
ALTER TABLE audit_log
  -- How the person had signed in, or tried to.
  ADD COLUMN method text,
  DROP CONSTRAINT audit_log_account_id_fkey;

-- Nobody changes an entry, and nobody deletes one that has stood here for less than 30 days, by this
-- database's own clock: whoever breaks in cannot take away how. Older ones go where a length is set.
ALTER TABLE audit_log ADD COLUMN written_at timestamptz NOT NULL DEFAULT now();
DROP TRIGGER audit_log_append_only ON audit_log;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER audit_log_kept BEFORE DELETE ON audit_log
  FOR EACH ROW WHEN (OLD.written_at > now() - interval '30 days')
  EXECUTE FUNCTION refuse_rewriting();

-- How often it was tried in vain to sign in to an account, or to prove presence in it, within an hour from the
-- first time on. A stranger may try without end, so only some of it is written into the log.
CREATE TABLE refused_sign_ins (
  account_id text NOT NULL,
  action text NOT NULL,
  method text NOT NULL,
  since timestamptz NOT NULL,
  count int NOT NULL,
  PRIMARY KEY (account_id, action, method)
) WITH (fillfactor = 80);
