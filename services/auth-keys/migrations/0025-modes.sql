-- One installation serves live and test mode. Existing keys and wallets are live, even on a test network, so that
-- nothing changes for them. An account has one default wallet per mode.
ALTER TABLE api_keys ADD COLUMN mode text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
ALTER TABLE wallets ADD COLUMN mode text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
CREATE UNIQUE INDEX wallets_one_default_per_mode ON wallets (account_id, mode) WHERE is_default;
DROP INDEX wallets_one_default;
