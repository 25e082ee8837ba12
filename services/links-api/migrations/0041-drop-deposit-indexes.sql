-- The indexes with the mode replace the ones without it.
DROP INDEX deposits_by_decision, deposits_by_owner;
ALTER INDEX deposits_by_decision_and_mode RENAME TO deposits_by_decision;
ALTER INDEX deposits_by_owner_and_mode RENAME TO deposits_by_owner;
