-- An unapplied report that gives way to one that counts is its duplicate (rule STATE-14), and needs nobody's
-- attention any more.
CREATE OR REPLACE FUNCTION keep_overview() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  judged_ids text[];
  replaced_ids text[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(id) INTO judged_ids FROM told WHERE status = 'settled';
  ELSE
    SELECT array_agg(id) FILTER (WHERE known.status <> 'settled'),
      array_agg(id) FILTER (WHERE known.status = 'settled' AND known.reason <> 'duplicate'
        AND told.reason = 'duplicate')
    INTO judged_ids, replaced_ids
    FROM told JOIN known USING (id) WHERE told.status = 'settled';
  END IF;
  IF replaced_ids IS NOT NULL THEN
    DELETE FROM unapplied_payments USING payments JOIN links ON links.id = payments.link_id
    WHERE payments.id = ANY (replaced_ids) AND unapplied_payments.user_id = links.user_id
      AND unapplied_payments.first_seen_at = payments.first_seen_at
      AND unapplied_payments.payment_id = payments.id;
  END IF;
  IF judged_ids IS NULL THEN
    RETURN NULL;
  END IF;
  -- In one order, so that two who add to the same shares never wait for each other. A statement may insert
  -- and update: each adds to shares of its own kind, the one after the other.
  WITH judged AS MATERIALIZED (
    SELECT payments.id, user_id, token_id, amount, is_applied, reason, applied_at, first_seen_at
    FROM unnest(judged_ids) AS judged_id
    JOIN payments ON payments.id = judged_id
    JOIN links ON links.id = payments.link_id
  ), unapplied AS (
    INSERT INTO unapplied_payments
    SELECT user_id, first_seen_at, id FROM judged WHERE NOT is_applied AND reason <> 'duplicate'
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
