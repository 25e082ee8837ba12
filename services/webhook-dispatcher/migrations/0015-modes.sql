-- One installation serves live and test mode. Existing endpoints are live. An endpoint receives the events of the links of
-- its mode.
ALTER TABLE endpoints ADD COLUMN mode text COLLATE "C" NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
