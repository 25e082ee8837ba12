-- From where something was done, and by which operator: an auditor asks for it, and for the person a
-- strange address is the first sign of a thief. A visitor is nobody who is signed in.
ALTER TABLE audit_log
  ADD COLUMN address text,
  ADD COLUMN user_agent text,
  ADD COLUMN operator text,
  DROP CONSTRAINT audit_log_actor_kind_check,
  ADD CONSTRAINT audit_log_actor_kind_check
    CHECK (actor_kind IN ('operator', 'session', 'visitor'));
