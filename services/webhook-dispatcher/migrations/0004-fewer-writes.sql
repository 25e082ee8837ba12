-- A delivery is written three times in its life at most; whatever is kept beside it is paid each time.

-- An endpoint is marked as deleted and never removed, so nothing can come to point nowhere; the check
-- locked the endpoint's row for every delivery.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_endpoint_id_fkey;

-- What is known of a delivery is always its event and endpoint, which name it as well.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_pkey;
