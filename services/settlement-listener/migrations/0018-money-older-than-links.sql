-- Money that reached an address on Bitcoin before a link had it is no payment of that link (rule CHAIN-28).

-- From when on money at a link's address pays the link. Null on other chains, and for links of before.
ALTER TABLE links ADD COLUMN paid_from timestamptz;

-- When a chain of Bitcoin was scanned up to a height. A reorg deletes what is above its fork.
CREATE TABLE scanned_heights (
  chain_id text NOT NULL,
  height bigint NOT NULL,
  scanned_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, height)
);
INSERT INTO scanned_heights
SELECT chain_id, scanned_to, now() FROM watchers
WHERE scanned_to IS NOT NULL AND chain_id LIKE '%bitcoin%';

-- Since when a transfer is known: it was seen, or its block had been scanned before its address was watched.
-- The block of an orphaned one says nothing, as it does not stand there.
CREATE FUNCTION known_since(transfer chain_transfers) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
  IF transfer.is_orphaned THEN
    RETURN transfer.seen_at;
  END IF;
  RETURN least(transfer.seen_at, (
    SELECT scanned_at FROM scanned_heights
    WHERE chain_id = transfer.chain_id AND height >= transfer.block_number
    ORDER BY height LIMIT 1
  ));
END
$$;
