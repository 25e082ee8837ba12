-- Receivers behind a firewall, such as a developer's machine, that connect to this service and receive their
-- account's webhooks over that connection (rule HOOK-22). A row exists only while its listener is in use.
CREATE TABLE listeners (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL,
  -- It receives the events of links of this mode, which is that of the API key.
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
  sealed_secret bytea NOT NULL,
  secret_key_name text NOT NULL,
  date_created timestamptz NOT NULL,
  last_contact_at timestamptz NOT NULL,
  -- The number of its last event. Writers lock the row, so the numbers of committed events have no gaps.
  last_number bigint NOT NULL DEFAULT 0,
  acknowledged_number bigint NOT NULL DEFAULT 0
);
CREATE INDEX listeners_of_user ON listeners (user_id);
CREATE INDEX listeners_by_contact ON listeners (last_contact_at);

-- The events that a listener has not acknowledged.
CREATE TABLE listener_events (
  listener_id text COLLATE "C" NOT NULL REFERENCES listeners ON DELETE CASCADE,
  number bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  link_id text COLLATE "C" NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  transaction jsonb,
  PRIMARY KEY (listener_id, number)
) WITH (autovacuum_vacuum_scale_factor = 0.01);
