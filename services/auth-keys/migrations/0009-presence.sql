-- When the session's person last proved to be there. NULL is its sign-in, as a replica of the release
-- before leaves it.
ALTER TABLE sessions ADD COLUMN presence_at timestamptz;

-- For which session a browser went to the identity provider to prove presence.
ALTER TABLE sign_in_attempts ADD COLUMN presence_session_id text;
