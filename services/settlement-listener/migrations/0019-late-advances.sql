-- A chain is reported at most once in two seconds. From this time on a report is due that was left out.
ALTER TABLE watchers ADD COLUMN advance_due_at timestamptz;
