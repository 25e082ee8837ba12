-- One transfer may be reported by the watch of its chain, by a payment provider's notice and as a deposit
-- (rule STATE-14). The payment that reports it again names the one that was judged first.
ALTER TABLE payments ADD COLUMN duplicate_of text COLLATE "C";

-- One form for all spellings of a transaction hash: hexadecimal ignores case and the prefix, base58 does not.
CREATE FUNCTION transaction_key(hash text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN hash ~* '^(0x)?[0-9a-f]{64}$' THEN right(lower(hash), 64) ELSE hash END;

-- The reports of a transaction are looked up whenever one of them settles.
CREATE INDEX payments_by_transaction ON payments (chain_id, transaction_key(source_transaction))
  WHERE source_transaction IS NOT NULL;

-- A plain duplicate needs nobody's attention: the same money counts already.
CREATE OR REPLACE FUNCTION keep_overview() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
