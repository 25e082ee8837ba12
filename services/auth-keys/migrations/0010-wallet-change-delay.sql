-- Which wallet becomes an account's default, and from when on. One at most waits for each account, and a
-- deleted one waits no longer.
CREATE TABLE pending_defaults (
  account_id text PRIMARY KEY REFERENCES accounts (id),
  wallet_id text NOT NULL UNIQUE REFERENCES wallets (id) ON DELETE CASCADE,
  effective_at timestamptz NOT NULL
);
CREATE INDEX pending_defaults_by_time ON pending_defaults (effective_at);

-- Whether the account has ever had a default, as links may have been made to it. Only the first needs
-- no delay, and nobody may come back to that by deleting wallets.
ALTER TABLE accounts ADD COLUMN has_had_default boolean NOT NULL DEFAULT false;
UPDATE accounts a SET has_had_default = true WHERE EXISTS (
  SELECT FROM audit_log l WHERE l.account_id = a.id AND l.action = 'wallet.added'
);

-- What the service does by itself, when its time has come.
ALTER TABLE audit_log
  DROP CONSTRAINT audit_log_actor_kind_check,
  ADD CONSTRAINT audit_log_actor_kind_check
    CHECK (actor_kind IN ('operator', 'session', 'visitor', 'scanner', 'service'));
