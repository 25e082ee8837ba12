-- Command lines that wait for a user to allow their sign-in (rule CALLER-47). Of both codes, only hashes are
-- stored. The API key is created by the poll that returns it, so it is never stored either. There is no foreign
-- key to the account, as in `unsubscribe_tokens`.
CREATE TABLE command_sign_ins (
  device_hash bytea PRIMARY KEY CHECK (length(device_hash) = 32),
  user_hash bytea NOT NULL UNIQUE CHECK (length(user_hash) = 32),
  device_name text NOT NULL,
  address text,
  date_created timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  denied_at timestamptz,
  -- Set when a user allows the sign-in.
  account_id text,
  scopes text[],
  mode text CHECK (mode IN ('live', 'test')),
  allowed_by jsonb
);
CREATE INDEX command_sign_ins_by_end ON command_sign_ins (expires_at);
CREATE INDEX command_sign_ins_of_account ON command_sign_ins (account_id) WHERE account_id IS NOT NULL;
