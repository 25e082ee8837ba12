-- The unsubscribe links in emails, of which only the token's hash is stored. A link switches off `kinds`. There
-- is no foreign key to the account, as in `emails`.
CREATE TABLE unsubscribe_tokens (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  account_id text NOT NULL,
  kinds text[] NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX unsubscribe_tokens_of_account ON unsubscribe_tokens (account_id);
CREATE INDEX unsubscribe_tokens_by_end ON unsubscribe_tokens (expires_at);
