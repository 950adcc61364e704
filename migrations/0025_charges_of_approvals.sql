-- The charge of an approval is made by the table, so that it is made whichever program approves: during an upgrade one from
-- before there were charges works beside a newer one.

CREATE FUNCTION approval_makes_charge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM charge_approval(NEW.organization_id, NEW.id, NEW.amount, NEW.currency, NEW.title, NEW.decided_at,
                            NEW.last_actor_id);
    RETURN NULL;
END $$;

CREATE TRIGGER approval_makes_charge AFTER UPDATE OF status ON approval_request
    FOR EACH ROW WHEN (NEW.status = 'approved' AND OLD.status <> 'approved' AND NEW.amount IS NOT NULL)
    EXECUTE FUNCTION approval_makes_charge();

-- So only requests that were approved before now can lack their charge. Organizations whose requests are still to be looked
-- at, and from which one on: a row goes when the last was looked at, and nobody has to look again at what is done.
CREATE TABLE charge_backfill (
    organization_id uuid PRIMARY KEY REFERENCES organization (id),
    from_request    uuid NOT NULL
);

-- After the trigger is there: who approves before sees neither, and is looked at; who approves later has the trigger.
INSERT INTO charge_backfill (organization_id, from_request)
SELECT id, '00000000-0000-0000-0000-000000000000' FROM organization;
