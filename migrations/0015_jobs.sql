-- What is to be done after an approval: asking an outside system and keeping what it says. Who may do it holds the
-- lease of the same request (0014); whether it is wanted, and what became of it, stands here.

CREATE TABLE job (
    organization_id uuid        NOT NULL,
    request_id      uuid        NOT NULL,
    -- Whether somebody is at it right now is said by its lease alone.
    state           text        NOT NULL CHECK (state IN ('waiting', 'succeeded', 'failed')),
    -- All of them, also those before it was started again.
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- Failed attempts since it was last started.
    failures        integer     NOT NULL DEFAULT 0 CHECK (failures >= 0),
    last_error      text        CHECK (char_length(last_error) BETWEEN 1 AND 2000),
    next_try_at     timestamptz CHECK (next_try_at >= '1970-01-01Z' AND next_try_at < '2200-01-01Z'),
    started_at      timestamptz NOT NULL CHECK (started_at >= '1970-01-01Z' AND started_at < '2200-01-01Z'),
    ended_at        timestamptz CHECK (ended_at >= '1970-01-01Z' AND ended_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, request_id),
    FOREIGN KEY (organization_id, request_id) REFERENCES approval_request (organization_id, id),
    CHECK ((state = 'waiting') = (next_try_at IS NOT NULL)),
    CHECK ((state = 'waiting') = (ended_at IS NULL))
) WITH (fillfactor = 70);

-- Due jobs, and those that need somebody's eye. An attempt changes none of its columns, so it stays HOT.
CREATE INDEX job_open ON job (next_try_at) WHERE state <> 'succeeded';

-- Each attempt: written before the outside system is asked, completed after it. One that was never completed is one
-- whose process died.
CREATE TABLE job_attempt (
    organization_id uuid        NOT NULL,
    request_id      uuid        NOT NULL,
    attempt         integer     NOT NULL CHECK (attempt >= 1),
    fence           bigint      NOT NULL CHECK (fence >= 1),
    holder          text        NOT NULL CHECK (char_length(holder) BETWEEN 1 AND 200),
    started_at      timestamptz NOT NULL CHECK (started_at >= '1970-01-01Z' AND started_at < '2200-01-01Z'),
    ended_at        timestamptz CHECK (ended_at >= '1970-01-01Z' AND ended_at < '2200-01-01Z'),
    error           text        CHECK (char_length(error) BETWEEN 1 AND 2000),
    PRIMARY KEY (organization_id, request_id, attempt),
    FOREIGN KEY (organization_id, request_id) REFERENCES job (organization_id, request_id)
) WITH (fillfactor = 70);

-- What the outside system answered, with the fence of who saved it: an older one is refused.
CREATE TABLE job_result (
    organization_id uuid        NOT NULL,
    request_id      uuid        NOT NULL,
    data            jsonb       NOT NULL,
    lease_fence     bigint      NOT NULL CHECK (lease_fence >= 1),
    saved_at        timestamptz NOT NULL CHECK (saved_at >= '1970-01-01Z' AND saved_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, request_id),
    FOREIGN KEY (organization_id, request_id) REFERENCES job (organization_id, request_id)
);
