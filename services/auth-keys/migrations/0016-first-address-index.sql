-- Of a wallet that is a key of Bitcoin: the index of the first address that links get. Those below are left to
-- the owner's own wallet app. Null on other chains.
ALTER TABLE wallets ADD COLUMN first_address_index int CHECK (first_address_index >= 0);
