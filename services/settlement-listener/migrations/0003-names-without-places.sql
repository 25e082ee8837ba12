-- A transfer was named by the place of its log in the receipt. A contract may emit another number of
-- logs when its transaction is mined again, and that payment was a second one. Now a transfer has its
-- number among those of its reference, a payment its number among those of its link: `<transaction
-- hash>:<link id>:<number>`. What stands in a block comes first, as that is what will be found there
-- again. Names of two parts and of three are never the same, so that none is met half way.
LOCK TABLE chain_transfers, payments IN ACCESS EXCLUSIVE MODE;

WITH numbered AS (
  SELECT chain_id, transaction_hash, ordinal, row_number() OVER (
    PARTITION BY chain_id, transaction_hash, reference_hash
    ORDER BY is_orphaned OR state = 'failed', ordinal
  ) - 1 AS number
  FROM chain_transfers
)
UPDATE payments SET source_id = transaction_hash || ':' || payment_link_id || ':' || number
FROM numbered
WHERE source = 'evm:' || numbered.chain_id AND source_id = transaction_hash || ':' || ordinal;

-- Payments of a disposable chain outlive its transfers. They come behind those that have one.
WITH rest AS (
  SELECT source, source_id, payment_link_id, split_part(source_id, ':', 1) AS transaction_hash,
    row_number() OVER (
      PARTITION BY source, payment_link_id, split_part(source_id, ':', 1)
      ORDER BY split_part(source_id, ':', 2)::int
    ) - 1 AS number
  FROM payments WHERE source LIKE 'evm:%' AND source_id NOT LIKE '%:%:%'
)
UPDATE payments SET source_id = transaction_hash || ':' || rest.payment_link_id || ':' || (number + (
  SELECT count(*) FROM chain_transfers
  WHERE chain_id = substr(rest.source, 5) AND transaction_hash = rest.transaction_hash
    AND payment_link_id = rest.payment_link_id
))
FROM rest
WHERE payments.source = rest.source AND payments.source_id = rest.source_id;

-- A process that still runs the code of before may not write a payment under its old name.
ALTER TABLE payments ADD CONSTRAINT payments_source_id_check
  CHECK (source NOT LIKE 'evm:%' OR source_id LIKE '%:%:%');

-- Without the key, as rows change one by one and would meet those that come later.
ALTER TABLE chain_transfers DROP CONSTRAINT chain_transfers_pkey;
WITH numbered AS (
  SELECT chain_id, transaction_hash, reference_hash, ordinal, row_number() OVER (
    PARTITION BY chain_id, transaction_hash, reference_hash
    ORDER BY is_orphaned OR state = 'failed', ordinal
  ) - 1 AS number
  FROM chain_transfers
)
UPDATE chain_transfers AS kept SET ordinal = number
FROM numbered
WHERE (kept.chain_id, kept.transaction_hash, kept.reference_hash, kept.ordinal)
  = (numbered.chain_id, numbered.transaction_hash, numbered.reference_hash, numbered.ordinal);
ALTER TABLE chain_transfers ADD PRIMARY KEY (chain_id, transaction_hash, reference_hash, ordinal);
