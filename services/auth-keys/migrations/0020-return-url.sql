-- The URL of the account's shop, to which payers return after a payment; null if there is none (rule API-39).
ALTER TABLE accounts ADD COLUMN return_url text;
