-- The record that was applied last, by its offset and a digest of what names it. A log that was lost and has
-- grown again holds another one there. An older release moves only `next_offset`: then these tell nothing.
ALTER TABLE positions ADD COLUMN last_offset bigint, ADD COLUMN last_record text;
