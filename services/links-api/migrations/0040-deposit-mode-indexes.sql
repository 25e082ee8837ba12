-- Every list of deposits is a list of one mode.
CREATE INDEX deposits_by_decision_and_mode ON deposits (user_id, mode, decision, first_seen_at DESC, id DESC);
CREATE INDEX deposits_by_owner_and_mode ON deposits (user_id, mode, first_seen_at DESC, id DESC);
