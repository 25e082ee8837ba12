-- From where alone a key may be used: addresses and CIDRs. NULL is anywhere.
ALTER TABLE api_keys ADD COLUMN cidrs text[] CHECK (cardinality(cidrs) > 0);
