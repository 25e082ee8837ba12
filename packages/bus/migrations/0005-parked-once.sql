-- A record that is set aside may come again at another offset: it is found by its id. What is applied
-- again changes nothing, so the inbox and keep_inbox are used no more; the release after drops them.
CREATE INDEX dead_letters_by_event ON dead_letters (consumer, event_id) WHERE event_id IS NOT NULL;
