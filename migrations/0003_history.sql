-- What happened to a request: one row a version, append-only, each row chained to the one before it.
--
-- The primary key is a promise of its own: a version has one author. Two decisions on one version cannot both be
-- stored, whatever the program above does.

CREATE TABLE approval_history (
    organization_id uuid        NOT NULL,
    request_id      uuid        NOT NULL,
    version         bigint      NOT NULL CHECK (version >= 1),
    actor_id        uuid        NOT NULL,
    actor_name      text        NOT NULL CHECK (char_length(actor_name) BETWEEN 1 AND 200),
    action          text        NOT NULL
        CHECK (action IN ('create', 'edit', 'submit', 'approve', 'reject', 'send_back', 'withdraw')),
    from_status     text
        CHECK (from_status IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn')),
    to_status       text        NOT NULL
        CHECK (to_status IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn')),
    reason          text        CHECK (char_length(reason) BETWEEN 1 AND 2000),
    content_hash    bytea       NOT NULL CHECK (octet_length(content_hash) = 32),
    occurred_at     timestamptz NOT NULL CHECK (occurred_at >= '1970-01-01Z' AND occurred_at < '2200-01-01Z'),
    -- Which canonical form entry_hash was computed over. A new column means a new format, never a backfill.
    hash_format     smallint    NOT NULL,
    entry_hash      bytea       NOT NULL CHECK (octet_length(entry_hash) = 32),
    PRIMARY KEY (organization_id, request_id, version),
    FOREIGN KEY (organization_id, request_id) REFERENCES approval_request (organization_id, id),
    FOREIGN KEY (organization_id, actor_id) REFERENCES organization_member (organization_id, user_id),
    CHECK ((action = 'create') = (version = 1)),
    CHECK ((from_status IS NULL) = (version = 1)),
    CHECK (action NOT IN ('reject', 'send_back') OR reason IS NOT NULL)
);

-- Whoever has acted on a request may see it.
CREATE INDEX approval_history_by_actor ON approval_history (organization_id, actor_id, request_id);

CREATE TRIGGER approval_history_append_only BEFORE UPDATE OR DELETE ON approval_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER approval_history_no_truncate BEFORE TRUNCATE ON approval_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
