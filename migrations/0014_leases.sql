-- The right to do slow work: a row with a heartbeat. An advisory lock would hold a connection and a transaction for
-- minutes; a row is held by whoever keeps its time fresh, under a token that nobody else knows.
--
-- No foreign key, and no index but the key: small and hot, it may live apart from the organizations' rows, and an
-- index on `updated_at` would cost every heartbeat its HOT update.

-- Numbers the holders: it only grows, also across release and new acquisition, so that who is handed an older fence
-- can refuse it.
CREATE SEQUENCE lease_fence AS bigint;

CREATE TABLE job_lease (
    -- The nil UUID for work that serves all organizations.
    organization_id uuid             NOT NULL,
    -- What is worked on: a request's processing (its id), a month's closing (the period), the relay of events.
    kind            text COLLATE "C" NOT NULL CHECK (kind IN ('job', 'closing', 'relay')),
    target_id       text COLLATE "C" NOT NULL CHECK (char_length(target_id) BETWEEN 1 AND 100),
    lease_token     uuid             NOT NULL,
    fence           bigint           NOT NULL CHECK (fence >= 1),
    -- Host, process and a nonce. For people only: no rule looks at it.
    holder          text             NOT NULL CHECK (char_length(holder) BETWEEN 1 AND 200),
    -- How often in a row it was taken from a holder that had gone silent.
    takeovers       integer          NOT NULL CHECK (takeovers >= 0),
    acquired_at     timestamptz      NOT NULL CHECK (acquired_at >= '1970-01-01Z' AND acquired_at < '2200-01-01Z'),
    updated_at      timestamptz      NOT NULL CHECK (updated_at >= '1970-01-01Z' AND updated_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, kind, target_id)
)
-- Half of each page is room for the next heartbeat.
WITH (fillfactor = 50);
