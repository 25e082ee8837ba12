-- A secret scanner says where a key lay open; its signature was checked.
ALTER TABLE audit_log
  DROP CONSTRAINT audit_log_actor_kind_check,
  ADD CONSTRAINT audit_log_actor_kind_check
    CHECK (actor_kind IN ('operator', 'session', 'visitor', 'scanner'));
