-- Payments whose transaction's nonce was not to be learnt when they were seen: it is asked for again for
-- as long as they wait. A column of `open_payments` would leave a second dead row there for each of them.
-- It is written by the trigger that keeps that table, so that it is right also while processes of before
-- are running.
CREATE TABLE nonces_to_learn (
  source text NOT NULL,
  seq bigint NOT NULL,
  source_id text NOT NULL,
  payment_link_id text NOT NULL,
  PRIMARY KEY (source, seq)
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);

-- Nothing begins or ceases to wait meanwhile.
LOCK TABLE payments IN SHARE ROW EXCLUSIVE MODE;
-- What waits by now is looked at once; what is known is taken away.
INSERT INTO nonces_to_learn
SELECT source, seq, source_id, payment_link_id FROM open_payments
WHERE is_processing AND source LIKE 'evm:%';

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
      WHERE 'evm:' || chain_id = NEW.source AND chain_id = NEW.chain_id
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
