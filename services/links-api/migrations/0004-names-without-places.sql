-- settlement-listener names a payment on a chain by its transaction, its link and its number among that
-- link's payments in the receipt, no more by the place of its log. Rows told under the old name get the
-- new one, so that the same payment told under another id is still refused. What stands in a block comes
-- first, as there. A payment is known by its id, so that it does not matter which service is renamed first.
WITH named AS (
  SELECT id, split_part(source_id, ':', 1) AS transaction_hash, row_number() OVER (
    PARTITION BY source, link_id, split_part(source_id, ':', 1)
    ORDER BY is_orphaned, status <> 'settled', split_part(source_id, ':', 2)::int
  ) - 1 AS number
  FROM payments WHERE source LIKE 'evm:%' AND source_id ~ '^0x[0-9a-f]+:[0-9]+$'
)
UPDATE payments SET source_id = transaction_hash || ':' || link_id || ':' || number
FROM named
WHERE payments.id = named.id;
