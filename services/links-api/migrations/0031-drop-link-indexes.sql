-- The indexes with the mode replace the ones without it.
DROP INDEX links_by_owner, links_ended_by_owner, links_lasting_by_owner, links_expiring_by_owner;
ALTER INDEX links_by_owner_and_mode RENAME TO links_by_owner;
ALTER INDEX links_ended_by_owner_and_mode RENAME TO links_ended_by_owner;
ALTER INDEX links_lasting_by_owner_and_mode RENAME TO links_lasting_by_owner;
ALTER INDEX links_expiring_by_owner_and_mode RENAME TO links_expiring_by_owner;
