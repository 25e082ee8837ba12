-- From where a key was last used, in clear as in the audit log. NULL where the service that asked did not
-- tell.
ALTER TABLE api_keys ADD COLUMN last_used_address text;
