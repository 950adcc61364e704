-- Invitations: an administrator offers a membership without knowing the person's user id. A link is used once, ends by
-- itself, and can be taken back. Never deleted: a row says how somebody became a member.

CREATE TABLE invitation (
    organization_id uuid        NOT NULL REFERENCES organization (id),
    id              uuid        NOT NULL,
    -- SHA-256 of the secret in the link, which is shown once and stored nowhere.
    secret_hash     bytea       NOT NULL CHECK (octet_length(secret_hash) = 32),
    display_name    text        NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 200),
    can_approve     boolean     NOT NULL,
    is_admin        boolean     NOT NULL,
    invited_by      uuid        NOT NULL,
    created_at      timestamptz NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    expires_at      timestamptz NOT NULL CHECK (expires_at > created_at AND expires_at < '2200-01-01Z'),
    accepted_by     uuid,
    revoked_at      timestamptz CHECK (revoked_at >= '1970-01-01Z' AND revoked_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, invited_by) REFERENCES organization_member (organization_id, user_id),
    FOREIGN KEY (organization_id, accepted_by) REFERENCES organization_member (organization_id, user_id),
    CHECK (accepted_by IS NULL OR revoked_at IS NULL)
);

CREATE INDEX invitation_in_order ON invitation (organization_id, created_at DESC, id DESC);

CREATE TRIGGER invitation_never_deleted BEFORE DELETE ON invitation
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER invitation_no_truncate BEFORE TRUNCATE ON invitation
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What was closed stays closed, and what was offered stays as it was offered.
CREATE FUNCTION invitation_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.accepted_by IS NOT NULL OR OLD.revoked_at IS NOT NULL
       OR (NEW.organization_id, NEW.id, NEW.secret_hash, NEW.display_name, NEW.can_approve, NEW.is_admin,
           NEW.invited_by, NEW.created_at, NEW.expires_at)
          IS DISTINCT FROM
          (OLD.organization_id, OLD.id, OLD.secret_hash, OLD.display_name, OLD.can_approve, OLD.is_admin,
           OLD.invited_by, OLD.created_at, OLD.expires_at) THEN
        RAISE EXCEPTION 'invitation % can only be closed, once', OLD.id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'invitation_guard';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER invitation_guard BEFORE UPDATE ON invitation
    FOR EACH ROW EXECUTE FUNCTION invitation_guard();
