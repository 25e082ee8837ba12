-- When each link last changed, so that a shop can list what changed since an instant (rule API-44). The default is
-- evaluated only here, so no row is rewritten: a link from before this column counts as changed now.
ALTER TABLE links ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();

-- The previous release still runs during an upgrade and does not write the column. Its creates get the default, and
-- its updates this trigger. This release always increases the column, so the trigger does nothing. The default and the
-- trigger can be dropped with the next release.
CREATE FUNCTION set_link_updated_at() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at + interval '1 microsecond');
  RETURN NEW;
END
$$;
CREATE TRIGGER links_updated BEFORE UPDATE ON links FOR EACH ROW
  WHEN (NEW.updated_at = OLD.updated_at
    AND (NEW.version, NEW.status) IS DISTINCT FROM (OLD.version, OLD.status))
  EXECUTE FUNCTION set_link_updated_at();
