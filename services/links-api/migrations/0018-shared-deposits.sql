-- Anyone may claim an address, so a deposit is copied for a bounded number of accounts. If more accounts are
-- paid at its address, a shared row (`user_id` is empty) keeps it, and the others copy it when they list
-- their deposits (rule API-35).
ALTER TABLE deposits
  -- When a shared row changed last; null for the rows of accounts.
  ADD COLUMN shared_at timestamptz;
CREATE INDEX deposits_shared ON deposits (chain_id, destination_address, shared_at) WHERE user_id = '';

ALTER TABLE paid_addresses
  -- Up to which change the account has copied shared rows.
  ADD COLUMN copied_to timestamptz;

-- On Bitcoin each link has an address of its own, and there are no deposits.
CREATE INDEX paid_addresses_by_owner ON paid_addresses (user_id, chain_id, address)
  WHERE chain_id NOT LIKE '%bitcoin%';
CREATE INDEX paid_addresses_by_age ON paid_addresses (chain_id, address, since, user_id)
  WHERE chain_id NOT LIKE '%bitcoin%';
