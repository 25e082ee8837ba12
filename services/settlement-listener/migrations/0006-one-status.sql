-- A payment's status is the only word on its money. A transfer keeps what is its chain's: its block, and
-- whether a reorg took it away; it is final where its chain is final up to that block.
LOCK TABLE chain_transfers, payments IN ACCESS EXCLUSIVE MODE;

-- Where the transfer of a payment that is not final yet stands; null where it stands in no block, and of
-- a provider's payment.
ALTER TABLE payments ADD COLUMN block_number bigint;
UPDATE payments SET block_number = transfer.block_number
FROM chain_transfers AS transfer
WHERE payments.status = 'processing' AND NOT transfer.is_orphaned
  AND payments.source = 'evm:' || transfer.chain_id
  AND payments.source_id
    = transfer.transaction_hash || ':' || transfer.payment_link_id || ':' || transfer.ordinal;

-- The payments that wait: for their link (parked), for their end (processing), or for both. Every poll
-- reads this small table. As an index of `payments` it would fill with dead entries faster than a
-- table of that size is vacuumed; without one no update of a payment touches an index. Triggers keep it,
-- so that it is right also while processes of before are running.
CREATE TABLE open_payments (
  source text NOT NULL,
  source_id text NOT NULL,
  seq bigint NOT NULL,
  payment_link_id text NOT NULL,
  is_parked boolean NOT NULL,
  is_processing boolean NOT NULL,
  block_number bigint,
  first_seen_at timestamptz NOT NULL,
  PRIMARY KEY (source, source_id)
);
INSERT INTO open_payments
SELECT source, source_id, seq, payment_link_id, version = 0, status = 'processing', block_number,
  first_seen_at
FROM payments WHERE version = 0 OR status = 'processing';
-- Found by their link when it is heard of, and shown, in the order in which they came.
CREATE INDEX open_payments_by_link ON open_payments (payment_link_id, seq) WHERE is_parked;
CREATE INDEX open_payments_parked ON open_payments (seq) WHERE is_parked;
CREATE INDEX open_payments_processing ON open_payments (first_seen_at) WHERE is_processing;
-- What is due to settle on a chain, and (without a block) what a reorg has taken away.
CREATE INDEX open_payments_by_block ON open_payments (source, block_number, source_id)
  WHERE is_processing;

CREATE FUNCTION keep_open_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.version = 0 OR NEW.status = 'processing' THEN
    INSERT INTO open_payments
    VALUES (NEW.source, NEW.source_id, NEW.seq, NEW.payment_link_id, NEW.version = 0,
            NEW.status = 'processing', NEW.block_number, NEW.first_seen_at)
    ON CONFLICT (source, source_id) DO UPDATE SET
      is_parked = excluded.is_parked, is_processing = excluded.is_processing,
      block_number = excluded.block_number;
  ELSE
    DELETE FROM open_payments WHERE source = NEW.source AND source_id = NEW.source_id;
  END IF;
  RETURN NULL;
END
$$;
-- Most payments are final once, and open never or once before that: nothing else costs a call.
CREATE TRIGGER payments_opened AFTER INSERT ON payments FOR EACH ROW
  WHEN (NEW.version = 0 OR NEW.status = 'processing') EXECUTE FUNCTION keep_open_payment();
CREATE TRIGGER payments_moved AFTER UPDATE ON payments FOR EACH ROW
  WHEN (OLD.version = 0 OR OLD.status = 'processing') EXECUTE FUNCTION keep_open_payment();

DROP INDEX payments_parked;
DROP INDEX payments_processing;
CREATE INDEX payments_orphaned ON payments (source) WHERE is_orphaned;

-- Left for processes of before, which read it; nothing is written there any more.
ALTER TABLE chain_transfers ALTER COLUMN state SET DEFAULT 'seen';
DROP INDEX chain_transfers_open;
DROP INDEX chain_transfers_orphaned;
-- Those that nobody has asked for, by their age; they are forgotten from the oldest on.
CREATE INDEX chain_transfers_unmatched_by_age ON chain_transfers (chain_id, seen_at)
  WHERE payment_link_id IS NULL;
