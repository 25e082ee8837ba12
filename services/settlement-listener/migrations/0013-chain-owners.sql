-- Whom links of a chain pay to, where a chain is read by the accounts of owners; when a link of theirs
-- was heard of last says whose accounts are asked for first.
CREATE TABLE chain_owners (
  chain_id text NOT NULL,
  address text NOT NULL,
  heard_at timestamptz NOT NULL,
  PRIMARY KEY (chain_id, address)
);
CREATE INDEX chain_owners_by_hearing ON chain_owners (chain_id, heard_at DESC, address);

INSERT INTO chain_owners
SELECT DISTINCT chain_id, destination_address, now() FROM links WHERE chain_id !~ '^[0-9]';
