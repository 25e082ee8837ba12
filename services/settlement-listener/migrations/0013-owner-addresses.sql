-- Where owners are paid: the destinations of the links heard of. A transfer there that names no link
-- is a deposit. Addresses stay for ever, as a deposit that is known must be found again.
CREATE TABLE owner_addresses (
  chain_id text NOT NULL,
  address text NOT NULL,
  -- When a link of theirs was heard of last, where a chain is read by the accounts of owners: whose are
  -- asked for first.
  heard_at timestamptz NOT NULL DEFAULT now(),
  -- By which readers find what is new without missing what was committed late.
  added_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  PRIMARY KEY (chain_id, address)
);
CREATE INDEX owner_addresses_by_news ON owner_addresses (chain_id, added_by);

-- A trigger, so that links which a process of before hears count as well.
CREATE FUNCTION keep_owner_addresses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO owner_addresses (chain_id, address)
  SELECT DISTINCT chain_id, destination_address FROM added
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
LOCK TABLE links IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO owner_addresses (chain_id, address)
SELECT DISTINCT chain_id, destination_address FROM links;
CREATE TRIGGER links_added AFTER INSERT ON links REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION keep_owner_addresses();
