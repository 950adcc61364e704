-- Organizations and their members: who somebody is in an organization and what he may do there.
--
-- Rights live here and nowhere else. A token only says who is asking; every use case reads this row, locked, in its
-- own transaction. A member is never deleted, only deactivated: history must always be able to say who acted.

CREATE TABLE organization (
    id         uuid        PRIMARY KEY,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    -- An IANA name. Months begin and end in this zone.
    time_zone  text        NOT NULL DEFAULT 'UTC' CHECK (char_length(time_zone) BETWEEN 1 AND 64),
    created_at timestamptz NOT NULL DEFAULT now() CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z')
);

CREATE TABLE organization_member (
    organization_id uuid        NOT NULL REFERENCES organization (id),
    user_id         uuid        NOT NULL,
    display_name    text        NOT NULL CHECK (char_length(display_name) BETWEEN 1 AND 200),
    is_active       boolean     NOT NULL DEFAULT true,
    can_approve     boolean     NOT NULL DEFAULT false,
    is_admin        boolean     NOT NULL DEFAULT false,
    version         bigint      NOT NULL DEFAULT 1 CHECK (version >= 1),
    created_at      timestamptz NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    updated_at      timestamptz NOT NULL CHECK (updated_at >= '1970-01-01Z' AND updated_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, user_id)
) WITH (fillfactor = 70);

-- Foreign keys hold whoever has ever acted; this holds the others, whose own history names them by text alone.
CREATE FUNCTION refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % is never deleted: deactivate the member', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'never_deleted';
END $$;

CREATE TRIGGER organization_member_never_deleted BEFORE DELETE ON organization_member
    FOR EACH ROW EXECUTE FUNCTION refuse_deletion();

-- `GET /me` is the one question that crosses organizations.
CREATE INDEX organization_member_by_user ON organization_member (user_id);
-- The members' list walks an order that never changes, so that a walk is stable while people work.
CREATE INDEX organization_member_in_order ON organization_member (organization_id, created_at, user_id);
-- "Waiting for": those who could decide, by name. Small, since few approve, and it changes rarely.
CREATE INDEX organization_member_deciders ON organization_member (organization_id, display_name, user_id)
    WHERE is_active AND can_approve;

-- The fair half of a member's lock. Row locks are not fair: people who share a row overtake one who waits to change
-- it for as long as they overlap. Advisory locks queue. Who acts takes this key shared, who changes the member takes
-- it exclusively, each before the row lock of the same statement.
CREATE FUNCTION member_fence(organization_id uuid, user_id uuid) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN hashtextextended('member/' || organization_id::text || '/' || user_id::text, 0);
