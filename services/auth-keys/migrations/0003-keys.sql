-- Rotation: a key made from another draws on the same rate bucket, named after the first of them.
-- NULL is the key's own id, so that a replica of the release before can still add keys.
ALTER TABLE api_keys
  ADD COLUMN bucket_id text REFERENCES api_keys (id),
  ADD COLUMN replaced_by text REFERENCES api_keys (id),
  ADD CONSTRAINT api_keys_replaced_end CHECK (replaced_by IS NULL OR expires_at IS NOT NULL);

-- What its owner knows an entry by: `seq` would tell how much happens in everybody's accounts. A
-- UUIDv7 (RFC 9562 section 5.7), made from a random one by writing the time over its start and 7 over
-- its version, as Postgres before 18 has no uuidv7().
ALTER TABLE audit_log ADD COLUMN id uuid NOT NULL DEFAULT encode(
  set_bit(set_bit(
    overlay(
      uuid_send(gen_random_uuid())
      PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
      FROM 1 FOR 6
    ), 52, 1), 53, 1),
  'hex')::uuid;
