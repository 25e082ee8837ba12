-- Who a person is elsewhere: an OpenID Connect subject of an issuer, or an Ethereum address. Each
-- signs in to one account for as long as it is linked.
CREATE TABLE identities (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  method text NOT NULL CHECK (method IN ('siwe', 'oidc')),
  issuer text NOT NULL,
  subject text NOT NULL,
  date_created timestamptz NOT NULL,
  UNIQUE (method, issuer, subject)
);
CREATE INDEX identities_of_account ON identities (account_id, date_created);

-- How a session was begun, and by which identity, which may have been unlinked since. The default
-- is for a replica of the release before, which knows only links.
ALTER TABLE sessions
  ADD COLUMN method text NOT NULL DEFAULT 'link' CHECK (method IN ('link', 'siwe', 'oidc')),
  ADD COLUMN identity_id text;
CREATE INDEX sessions_of_identity ON sessions (identity_id) WHERE identity_id IS NOT NULL;

-- Sign-ins that a browser has begun: the SHA-256 of the nonce or state that it was given, and of
-- the secret in its cookie. Deleted as they are used. A sign-in begun to link an identity is bound
-- to the session that began it.
CREATE TABLE sign_in_attempts (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  browser_hash bytea NOT NULL CHECK (length(browser_hash) = 32),
  method text NOT NULL CHECK (method IN ('siwe', 'oidc')),
  linking_session_id text,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (expires_at);
