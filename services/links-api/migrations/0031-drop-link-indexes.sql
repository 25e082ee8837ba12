-- The indexes with the mode replace the ones without it. Until the update ends, the previous release can sort an
-- owner's links instead. A table with both sets would make every new link dearer until the next release.
DROP INDEX links_by_owner, links_ended_by_owner, links_lasting_by_owner, links_expiring_by_owner;
ALTER INDEX links_by_owner_and_mode RENAME TO links_by_owner;
ALTER INDEX links_ended_by_owner_and_mode RENAME TO links_ended_by_owner;
ALTER INDEX links_lasting_by_owner_and_mode RENAME TO links_lasting_by_owner;
ALTER INDEX links_expiring_by_owner_and_mode RENAME TO links_expiring_by_owner;
