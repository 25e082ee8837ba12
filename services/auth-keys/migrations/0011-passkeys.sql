-- Public keys by which people sign in (WebAuthn). The private half never leaves the authenticator.
CREATE TABLE passkeys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- What the authenticator counted last; 0 for ever where it does not count.
  counter bigint NOT NULL CHECK (counter >= 0),
  name text NOT NULL,
  date_created timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_of_account ON passkeys (account_id, date_created);

ALTER TABLE sessions
  DROP CONSTRAINT sessions_method_check,
  ADD CONSTRAINT sessions_method_check CHECK (method IN ('link', 'siwe', 'oidc', 'passkey'));
ALTER TABLE sign_in_attempts
  DROP CONSTRAINT sign_in_attempts_method_check,
  ADD CONSTRAINT sign_in_attempts_method_check CHECK (method IN ('siwe', 'oidc', 'passkey'));
