-- Who is asked for often on Solana: addresses at which a payment has settled come first, and one account's
-- addresses take no more than a share.
ALTER TABLE owner_addresses ADD COLUMN user_id text, ADD COLUMN paid_at timestamptz;

UPDATE owner_addresses AS kept SET paid_at = paid.settled_at
FROM (
  SELECT chain_id, destination_address, min(first_seen_at) AS settled_at FROM payments
  WHERE status = 'settled' AND payer IS NULL GROUP BY chain_id, destination_address
) AS paid
WHERE kept.chain_id = paid.chain_id AND kept.address = paid.destination_address;
