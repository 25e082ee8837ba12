-- An existing account counts as verified unless this database shows that it signed up by itself: the first
-- entry of its audit log, or an identity as old as the account. Entries expire and identities are unlinked. An
-- account of unknown origin may be an operator's shop, and an upgrade must not warn its payers.
-- A file of its own: the column's lock must not last as long as this statement.
UPDATE accounts SET verified_at = date_created
WHERE NOT EXISTS (
  SELECT FROM identities
  WHERE identities.account_id = accounts.id AND identities.date_created = accounts.date_created
) AND NOT EXISTS (
  SELECT FROM (
    SELECT action, actor_kind FROM audit_log
    WHERE audit_log.account_id = accounts.id ORDER BY seq LIMIT 1
  ) AS earliest
  WHERE action = 'account.created' AND actor_kind <> 'operator'
);
