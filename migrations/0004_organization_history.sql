-- The organization's other history: what belongs to no version of a request (members today; jobs, closings and
-- inspections have their kinds). One chain per subject, whose head is a row of its own, since there is no other row
-- that every writer of a subject locks anyway.

CREATE TABLE history_head (
    organization_id uuid   NOT NULL REFERENCES organization (id),
    kind            text   NOT NULL CHECK (kind IN ('member', 'job', 'closing', 'access')),
    subject_id      text   NOT NULL CHECK (char_length(subject_id) BETWEEN 1 AND 100),
    seq             bigint NOT NULL CHECK (seq >= 0),
    chain_hash      bytea  NOT NULL CHECK (octet_length(chain_hash) = 32),
    PRIMARY KEY (organization_id, kind, subject_id)
) WITH (fillfactor = 70);

CREATE TABLE organization_history (
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    subject_id      text        NOT NULL,
    seq             bigint      NOT NULL CHECK (seq >= 1),
    -- NULL: the command line, which has no member behind it.
    actor_id        uuid,
    actor_name      text        NOT NULL CHECK (char_length(actor_name) BETWEEN 1 AND 200),
    action          text        NOT NULL CHECK (char_length(action) BETWEEN 1 AND 50),
    reason          text        CHECK (char_length(reason) BETWEEN 1 AND 2000),
    detail          jsonb       NOT NULL CHECK (jsonb_typeof(detail) = 'object'),
    occurred_at     timestamptz NOT NULL CHECK (occurred_at >= '1970-01-01Z' AND occurred_at < '2200-01-01Z'),
    hash_format     smallint    NOT NULL,
    entry_hash      bytea       NOT NULL CHECK (octet_length(entry_hash) = 32),
    PRIMARY KEY (organization_id, kind, subject_id, seq),
    FOREIGN KEY (organization_id, kind, subject_id) REFERENCES history_head (organization_id, kind, subject_id),
    FOREIGN KEY (organization_id, actor_id) REFERENCES organization_member (organization_id, user_id)
);

CREATE TRIGGER organization_history_append_only BEFORE UPDATE OR DELETE ON organization_history
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER organization_history_no_truncate BEFORE TRUNCATE ON organization_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
