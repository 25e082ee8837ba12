-- A chain may show a payment again that was reported as failed: the payment is open again then.
DROP TRIGGER payments_moved ON payments;
CREATE TRIGGER payments_moved AFTER UPDATE ON payments FOR EACH ROW
  WHEN (old.version = 0 OR old.status = 'processing' OR new.status = 'processing')
  EXECUTE FUNCTION keep_open_payment();
