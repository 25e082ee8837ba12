-- Where and about what an account is notified by email. `address` is confirmed. Nothing is sent to
-- `pending_address` except the email with the confirmation link, of which only the token's hash is stored.
CREATE TABLE notification_settings (
  account_id text PRIMARY KEY REFERENCES accounts (id),
  address text,
  pending_address text,
  confirmation_hash bytea UNIQUE CHECK (length(confirmation_hash) = 32),
  confirmation_expires_at timestamptz,
  language text NOT NULL CHECK (language IN ('en', 'de')),
  disabled_kinds text[] NOT NULL DEFAULT '{}'
);

-- The queue of emails. A row stays for two days after it was created, so that a repeated event does not send
-- its email again and the emails of an hour can be counted. There is no foreign key to the account: the check
-- would wait for a transaction that has locked the account and waits for its settings.
CREATE TABLE emails (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  kind text NOT NULL,
  content jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'sent', 'summarized', 'dropped', 'given_up')),
  attempts integer NOT NULL DEFAULT 0,
  date_created timestamptz NOT NULL,
  next_attempt_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX emails_due ON emails (next_attempt_at) WHERE status = 'pending';
CREATE INDEX emails_of_account ON emails (account_id, kind, date_created);
CREATE INDEX emails_by_date ON emails (date_created);
CREATE INDEX emails_with_confirmation ON emails (lower(content ->> 'address'), date_created)
  WHERE kind = 'address_confirmation';
