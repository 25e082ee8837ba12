-- A deposit is in the mode of the first link at its address.
ALTER TABLE paid_addresses ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
CREATE OR REPLACE FUNCTION keep_paid_addresses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO paid_addresses (chain_id, address, user_id, since, mode)
  SELECT chain_id, destination_address, user_id, min(created_at), min(mode) FROM added
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
ALTER TABLE ignored_fields ADD COLUMN IF NOT EXISTS mode text COLLATE "C" NOT NULL DEFAULT 'live';
