-- A settled payment may be judged again once more reports of its transaction are there (rule STATE-14).
CREATE OR REPLACE FUNCTION keep_overview() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  applied_ids text[];
  listed_ids text[];
  unlisted_ids text[];
BEGIN
  -- A plain duplicate needs nobody's attention: the same money counts already.
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(id) FILTER (WHERE is_applied),
      array_agg(id) FILTER (WHERE NOT is_applied AND reason <> 'duplicate')
    INTO applied_ids, listed_ids FROM told WHERE status = 'settled';
  ELSE
    WITH changed AS (
      SELECT id, told.is_applied AND NOT known.is_applied AS is_applied_now,
        told.status = 'settled' AND NOT told.is_applied AND told.reason <> 'duplicate' AS is_listed,
        known.status = 'settled' AND NOT known.is_applied AND known.reason <> 'duplicate' AS was_listed
      FROM told JOIN known USING (id)
    )
    SELECT array_agg(id) FILTER (WHERE is_applied_now),
      array_agg(id) FILTER (WHERE is_listed AND NOT was_listed),
      array_agg(id) FILTER (WHERE was_listed AND NOT is_listed)
    INTO applied_ids, listed_ids, unlisted_ids FROM changed;
  END IF;
  IF unlisted_ids IS NOT NULL THEN
    DELETE FROM unapplied_payments USING payments, links
    WHERE payments.id = ANY (unlisted_ids) AND links.id = payments.link_id
      AND unapplied_payments.user_id = links.user_id
      AND unapplied_payments.first_seen_at = payments.first_seen_at
      AND unapplied_payments.payment_id = payments.id;
  END IF;
  IF listed_ids IS NOT NULL THEN
    INSERT INTO unapplied_payments
    SELECT user_id, first_seen_at, payments.id
    FROM unnest(listed_ids) AS listed_id
    JOIN payments ON payments.id = listed_id
    JOIN links ON links.id = payments.link_id;
  END IF;
  IF applied_ids IS NOT NULL THEN
    -- In one order, so that two who add to the same shares never wait for each other. A statement may insert
    -- and update: each adds to shares of its own kind, the one after the other.
    INSERT INTO received_by_day AS kept
    SELECT user_id, (applied_at AT TIME ZONE 'UTC')::date, token_id,
      abs(hashtext(applied_ids[1]) % 8) + CASE TG_OP WHEN 'INSERT' THEN 0 ELSE 8 END,
      sum(amount), count(*)
    FROM unnest(applied_ids) AS applied_id
    JOIN payments ON payments.id = applied_id
    JOIN links ON links.id = payments.link_id
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (user_id, day, token_id, share) DO UPDATE SET
      amount = kept.amount + excluded.amount,
      payment_count = kept.payment_count + excluded.payment_count;
  END IF;
  RETURN NULL;
END
$$;
