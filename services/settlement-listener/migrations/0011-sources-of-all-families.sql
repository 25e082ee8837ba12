-- The name of a chain's payments: EVM chains keep the one that they have, as it names payments for ever.
CREATE FUNCTION chain_source(chain_id text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN chain_id ~ '^[0-9]' THEN 'evm:' ELSE 'chain:' END || chain_id;

-- Rows of before obey it: their sources are `evm:` and `provider:`.
ALTER TABLE payments DROP CONSTRAINT payments_source_id_check;
ALTER TABLE payments ADD CONSTRAINT payments_source_id_check
  CHECK (source LIKE 'provider:%' OR source_id LIKE '%:%:%') NOT VALID;
ALTER TABLE payments VALIDATE CONSTRAINT payments_source_id_check;

CREATE OR REPLACE FUNCTION keep_open_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.version = 0 OR NEW.status = 'processing' THEN
    INSERT INTO open_payments
    VALUES (NEW.source, NEW.source_id, NEW.seq, NEW.payment_link_id, NEW.version = 0,
            NEW.status = 'processing', NEW.block_number, NEW.first_seen_at)
    ON CONFLICT (source, source_id) DO UPDATE SET
      is_parked = excluded.is_parked, is_processing = excluded.is_processing,
      block_number = excluded.block_number;
    -- A nonce that is known stays known.
    IF TG_OP = 'INSERT' AND EXISTS (
      SELECT FROM chain_transfers
      WHERE chain_source(chain_id) = NEW.source AND chain_id = NEW.chain_id
        AND transaction_hash = NEW.source_transaction
        AND payment_link_id = NEW.payment_link_id AND nonce IS NULL
    ) THEN
      INSERT INTO nonces_to_learn
      VALUES (NEW.source, NEW.seq, NEW.source_id, NEW.payment_link_id);
    END IF;
  ELSE
    DELETE FROM open_payments WHERE source = NEW.source AND source_id = NEW.source_id;
    DELETE FROM nonces_to_learn WHERE source = NEW.source AND seq = NEW.seq;
  END IF;
  RETURN NULL;
END
$$;
