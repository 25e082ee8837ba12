-- What the console's overview shows, kept as it changes: adding up a million payments each time that
-- somebody looks would take a second. A trigger keeps it, so that it is also right while processes of
-- before are running; it locks payments until what was there before is added up.

-- What an owner received on a day (UTC) in a token: the applied payments of that day. One payment that its
-- chain takes away later keeps its credit. Payments of one account are applied in several transactions at
-- once: they add to different shares, so as not to wait for one another. A day is the sum of its shares.
CREATE TABLE received_by_day (
  user_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  token_id text COLLATE "C" NOT NULL,
  share int NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0),
  payment_count bigint NOT NULL CHECK (payment_count > 0),
  PRIMARY KEY (user_id, day, token_id, share)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The payments that settled and do not count, by their owner; few beside all.
CREATE TABLE unapplied_payments (
  user_id text COLLATE "C" NOT NULL,
  first_seen_at timestamptz NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, first_seen_at, payment_id)
);

-- A payment is judged once, in the statement that says that it has settled.
CREATE FUNCTION keep_overview() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  judged_ids text[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(id) INTO judged_ids FROM told WHERE status = 'settled';
  ELSE
    SELECT array_agg(id) INTO judged_ids FROM told JOIN known USING (id)
    WHERE told.status = 'settled' AND known.status <> 'settled';
  END IF;
  IF judged_ids IS NULL THEN
    RETURN NULL;
  END IF;
  -- In one order, so that two who add to the same shares never wait for each other. A statement may insert
  -- and update: each adds to shares of its own kind, the one after the other.
  WITH judged AS MATERIALIZED (
    SELECT payments.id, user_id, token_id, amount, is_applied, applied_at, first_seen_at
    FROM unnest(judged_ids) AS judged_id
    JOIN payments ON payments.id = judged_id
    JOIN links ON links.id = payments.link_id
  ), unapplied AS (
    INSERT INTO unapplied_payments
    SELECT user_id, first_seen_at, id FROM judged WHERE NOT is_applied
  )
  INSERT INTO received_by_day AS kept
  SELECT user_id, (applied_at AT TIME ZONE 'UTC')::date, token_id,
    abs(hashtext(judged_ids[1]) % 8) + CASE TG_OP WHEN 'INSERT' THEN 0 ELSE 8 END,
    sum(amount), count(*)
  FROM judged WHERE is_applied
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (user_id, day, token_id, share) DO UPDATE SET
    amount = kept.amount + excluded.amount,
    payment_count = kept.payment_count + excluded.payment_count;
  RETURN NULL;
END
$$;
CREATE TRIGGER payments_judged_at_once AFTER INSERT ON payments REFERENCING NEW TABLE AS told
  FOR EACH STATEMENT EXECUTE FUNCTION keep_overview();
CREATE TRIGGER payments_judged AFTER UPDATE ON payments REFERENCING OLD TABLE AS known NEW TABLE AS told
  FOR EACH STATEMENT EXECUTE FUNCTION keep_overview();

INSERT INTO received_by_day
SELECT user_id, (applied_at AT TIME ZONE 'UTC')::date, token_id, 0, sum(amount), count(*)
FROM payments JOIN links ON links.id = payments.link_id
WHERE is_applied
GROUP BY 1, 2, 3;
INSERT INTO unapplied_payments
SELECT user_id, first_seen_at, payments.id
FROM payments JOIN links ON links.id = payments.link_id
WHERE payments.status = 'settled' AND NOT is_applied;
