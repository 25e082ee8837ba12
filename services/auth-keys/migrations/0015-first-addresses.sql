-- Of a wallet that is a key of Bitcoin: the addresses by which its owner knows that it is the right one.
ALTER TABLE wallets ADD COLUMN first_addresses text[];
