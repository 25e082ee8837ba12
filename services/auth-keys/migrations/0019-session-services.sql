-- Each service that a signed-in person calls receives a token of its own; `hash` is of auth-keys' token. Null in
-- sessions of an older release, whose one token all services received: they count no longer.
ALTER TABLE sessions
  ADD COLUMN links_api_hash bytea UNIQUE CHECK (length(links_api_hash) = 32),
  ADD COLUMN webhook_dispatcher_hash bytea UNIQUE CHECK (length(webhook_dispatcher_hash) = 32);
