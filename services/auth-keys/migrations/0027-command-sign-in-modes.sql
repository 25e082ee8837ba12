-- The command chooses the mode when its sign-in starts, so every row has one. The default is for the
-- previous release, which set the mode only when a user allowed the sign-in.
UPDATE command_sign_ins SET mode = 'live' WHERE mode IS NULL;
ALTER TABLE command_sign_ins ALTER mode SET DEFAULT 'live', ALTER mode SET NOT NULL;
