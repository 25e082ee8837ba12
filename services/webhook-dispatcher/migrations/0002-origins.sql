-- Attempts are bounded per account and per origin too, so the claim must know whose an endpoint is and
-- where it points. A URL never changes.
ALTER TABLE endpoints ADD COLUMN origin text COLLATE "C"
  GENERATED ALWAYS AS (COALESCE(substring(url FROM '^[^:]*://[^/?#]*'), url)) STORED;
