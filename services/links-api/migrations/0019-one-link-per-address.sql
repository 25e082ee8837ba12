-- No address is given to a second link. A release of before still serves during the upgrade: it looks for
-- addresses whose link has ended, and finds none. The column can be dropped with the next release.
UPDATE bitcoin_addresses SET ended_at = NULL WHERE ended_at IS NOT NULL;
DROP INDEX bitcoin_addresses_by_end;
