-- The request as it stands now (the row that decisions lock), and the content of every version.

CREATE TABLE approval_request (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    applicant_id    uuid        NOT NULL,
    title           text        NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
    description     text        NOT NULL CHECK (char_length(description) <= 10000),
    -- In the currency's minor unit; at most 2^53 - 1, which JavaScript reads exactly.
    amount          bigint      CHECK (amount BETWEEN 0 AND 9007199254740991),
    currency        text        CHECK (currency ~ '^[A-Z]{3}$'),
    status          text        NOT NULL
        CHECK (status IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn')),
    version         bigint      NOT NULL CHECK (version >= 1),
    -- The version that wrote the content: a submit or a decision leaves the content as it was.
    content_version bigint      NOT NULL CHECK (content_version BETWEEN 1 AND version),
    content_hash    bytea       NOT NULL CHECK (octet_length(content_hash) = 32),
    decision_reason text        CHECK (char_length(decision_reason) BETWEEN 1 AND 2000),
    created_at      timestamptz NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    updated_at      timestamptz NOT NULL CHECK (updated_at >= '1970-01-01Z' AND updated_at < '2200-01-01Z'),
    submitted_at    timestamptz CHECK (submitted_at >= '1970-01-01Z' AND submitted_at < '2200-01-01Z'),
    decided_at      timestamptz CHECK (decided_at >= '1970-01-01Z' AND decided_at < '2200-01-01Z'),
    -- What a loser is told. Here and not in the history, since after a wait only the locked row itself is read anew.
    last_action     text        NOT NULL
        CHECK (last_action IN ('create', 'edit', 'submit', 'approve', 'reject', 'send_back', 'withdraw')),
    last_actor_id   uuid        NOT NULL,
    last_actor_name text        NOT NULL,
    -- The head of the request's hash chain: the entry_hash of its last history row.
    chain_hash      bytea       NOT NULL CHECK (octet_length(chain_hash) = 32),
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, applicant_id) REFERENCES organization_member (organization_id, user_id),
    CHECK ((amount IS NULL) = (currency IS NULL)),
    CHECK (status IN ('draft', 'withdrawn') OR submitted_at IS NOT NULL),
    CHECK ((status IN ('approved', 'rejected')) <= (decided_at IS NOT NULL))
)
-- Room for HOT updates: a decision changes no indexed column, so it must find space on its own page.
WITH (fillfactor = 60);

-- Lists are ordered by what never changes. There is no index on status or updated_at: an index on what changes
-- would cost every decision its HOT update.
CREATE INDEX approval_request_in_order ON approval_request (organization_id, created_at DESC, id DESC);
CREATE INDEX approval_request_by_applicant ON approval_request (organization_id, applicant_id, created_at DESC, id DESC);

CREATE TABLE approval_version (
    organization_id uuid   NOT NULL,
    request_id      uuid   NOT NULL,
    version         bigint NOT NULL CHECK (version >= 1),
    title           text   NOT NULL CHECK (char_length(title) BETWEEN 1 AND 200),
    description     text   NOT NULL CHECK (char_length(description) <= 10000),
    amount          bigint CHECK (amount BETWEEN 0 AND 9007199254740991),
    currency        text   CHECK (currency ~ '^[A-Z]{3}$'),
    content_hash    bytea  NOT NULL CHECK (octet_length(content_hash) = 32),
    PRIMARY KEY (organization_id, request_id, version),
    FOREIGN KEY (organization_id, request_id) REFERENCES approval_request (organization_id, id),
    CHECK ((amount IS NULL) = (currency IS NULL))
);

-- A version only grows by one, a final status never changes, and what was judged changes only with a new version.
-- An UPDATE that leaves all of that alone passes: later backfills need it.
CREATE FUNCTION approval_request_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.organization_id <> OLD.organization_id OR NEW.id <> OLD.id OR NEW.applicant_id <> OLD.applicant_id
       OR NEW.created_at <> OLD.created_at THEN
        RAISE EXCEPTION 'the identity of request % never changes', OLD.id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approval_request_guard';
    END IF;
    IF NEW.version = OLD.version THEN
        IF (NEW.status, NEW.title, NEW.description, NEW.amount, NEW.currency, NEW.content_version, NEW.content_hash,
            NEW.decision_reason, NEW.submitted_at, NEW.decided_at, NEW.updated_at,
            NEW.last_action, NEW.last_actor_id, NEW.last_actor_name, NEW.chain_hash)
           IS DISTINCT FROM
           (OLD.status, OLD.title, OLD.description, OLD.amount, OLD.currency, OLD.content_version, OLD.content_hash,
            OLD.decision_reason, OLD.submitted_at, OLD.decided_at, OLD.updated_at,
            OLD.last_action, OLD.last_actor_id, OLD.last_actor_name, OLD.chain_hash) THEN
            RAISE EXCEPTION 'request % can change only with a new version', OLD.id
                USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approval_request_guard';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.version <> OLD.version + 1 THEN
        RAISE EXCEPTION 'the version of request % grows by one: % cannot follow %', OLD.id, NEW.version, OLD.version
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approval_request_guard';
    END IF;
    IF OLD.status IN ('approved', 'rejected', 'withdrawn') THEN
        RAISE EXCEPTION 'request % is %, which is final', OLD.id, OLD.status
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'approval_request_guard';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER approval_request_guard BEFORE UPDATE ON approval_request
    FOR EACH ROW EXECUTE FUNCTION approval_request_guard();

-- For every table that only grows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'append_only';
END $$;

CREATE TRIGGER approval_version_append_only BEFORE UPDATE OR DELETE ON approval_version
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER approval_version_no_truncate BEFORE TRUNCATE ON approval_version
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
