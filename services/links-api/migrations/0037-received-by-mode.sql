-- The function needs the new key for its `ON CONFLICT`, so both change together.
ALTER TABLE received_by_day
  DROP CONSTRAINT received_by_day_pkey,
  ADD CONSTRAINT received_by_day_pkey PRIMARY KEY USING INDEX received_by_day_with_mode;

CREATE OR REPLACE FUNCTION keep_overview() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  applied_ids text[];
  listed_ids text[];
  unlisted_ids text[];
BEGIN
  -- A duplicate does not need attention, because the same money is applied already.
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
      AND unapplied_payments.mode = links.mode
      AND unapplied_payments.first_seen_at = payments.first_seen_at
      AND unapplied_payments.payment_id = payments.id;
  END IF;
  IF listed_ids IS NOT NULL THEN
    INSERT INTO unapplied_payments (user_id, mode, first_seen_at, payment_id)
    SELECT user_id, mode, first_seen_at, payments.id
    FROM unnest(listed_ids) AS listed_id
    JOIN payments ON payments.id = listed_id
    JOIN links ON links.id = payments.link_id;
  END IF;
  IF applied_ids IS NOT NULL THEN
    -- In a fixed order, so that two transactions that add to the same shares never deadlock. A statement can insert
    -- and update: each adds to its own shares, one after the other.
    INSERT INTO received_by_day AS kept (user_id, mode, day, token_id, share, amount, payment_count)
    SELECT user_id, mode, (applied_at AT TIME ZONE 'UTC')::date, token_id,
      abs(hashtext(applied_ids[1]) % 8) + CASE TG_OP WHEN 'INSERT' THEN 0 ELSE 8 END,
      sum(amount), count(*)
    FROM unnest(applied_ids) AS applied_id
    JOIN payments ON payments.id = applied_id
    JOIN links ON links.id = payments.link_id
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (user_id, mode, day, token_id, share) DO UPDATE SET
      amount = kept.amount + excluded.amount,
      payment_count = kept.payment_count + excluded.payment_count;
  END IF;
  RETURN NULL;
END
$$;
