-- Webhooks: the addresses of programs that are told of events, how far each of them has been told, and the log of the
-- attempts.

CREATE TABLE webhook_endpoint (
    organization_id  uuid             NOT NULL REFERENCES organization (id),
    id               uuid             NOT NULL,
    url              text             NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2000),
    -- Which events; empty: all of them.
    event_types      text[]           NOT NULL CHECK (cardinality(event_types) <= 100),
    -- failing: given up after a day or more of failures, until a person enables it again.
    state            text COLLATE "C" NOT NULL CHECK (state IN ('enabled', 'failing', 'disabled')),
    -- Sealed (AES-256-GCM) with a key of the settings: this database alone signs nothing.
    secret           bytea            NOT NULL CHECK (octet_length(secret) BETWEEN 32 AND 200),
    -- After a rotation both sign until then.
    old_secret       bytea            CHECK (octet_length(old_secret) BETWEEN 32 AND 200),
    old_secret_until timestamptz      CHECK (old_secret_until >= '1970-01-01Z' AND old_secret_until < '2200-01-01Z'),
    -- Counts what people changed, and what Ringi turned off. How far it is does not count.
    version          bigint           NOT NULL CHECK (version >= 1),
    created_at       timestamptz      NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    updated_at       timestamptz      NOT NULL CHECK (updated_at >= '1970-01-01Z' AND updated_at < '2200-01-01Z'),

    -- Everything up to this position of event_log has been delivered, or is none of its business.
    position         bigint           NOT NULL CHECK (position >= 0),
    -- Of all time: numbers the log.
    attempts         bigint           NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- In a row.
    failures         integer          NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failing_since    timestamptz      CHECK (failing_since >= '1970-01-01Z' AND failing_since < '2200-01-01Z'),
    next_attempt_at  timestamptz      CHECK (next_attempt_at >= '1970-01-01Z' AND next_attempt_at < '2200-01-01Z'),
    last_attempt_at  timestamptz      CHECK (last_attempt_at >= '1970-01-01Z' AND last_attempt_at < '2200-01-01Z'),
    last_status      smallint         CHECK (last_status BETWEEN 100 AND 999),
    last_error       text             CHECK (char_length(last_error) BETWEEN 1 AND 2000),
    PRIMARY KEY (organization_id, id),
    CHECK ((old_secret IS NULL) = (old_secret_until IS NULL)),
    CHECK ((failures = 0) = (failing_since IS NULL))
    -- Written after every few deliveries, in columns that no index has.
) WITH (fillfactor = 50);

-- One row for each attempt, the newest of each endpoint kept: for the person who wonders why nothing comes.
CREATE TABLE webhook_delivery (
    organization_id uuid             NOT NULL,
    endpoint_id     uuid             NOT NULL,
    -- From 1, of this endpoint.
    number          bigint           NOT NULL CHECK (number >= 1),
    -- Where its event stands, or, of what came before a first submission, the submission.
    position        bigint           NOT NULL CHECK (position >= 1),
    event_id        text COLLATE "C" NOT NULL CHECK (char_length(event_id) BETWEEN 1 AND 100),
    event_type      text COLLATE "C" NOT NULL CHECK (char_length(event_type) BETWEEN 1 AND 100),
    result          text COLLATE "C" NOT NULL CHECK (result IN ('delivered', 'failed', 'throttled', 'gone')),
    status          smallint         CHECK (status BETWEEN 100 AND 999),
    duration_ms     integer          NOT NULL CHECK (duration_ms >= 0),
    -- The beginning of what was answered.
    answer          text             CHECK (char_length(answer) <= 1000),
    error           text             CHECK (char_length(error) BETWEEN 1 AND 2000),
    attempted_at    timestamptz      NOT NULL CHECK (attempted_at >= '1970-01-01Z' AND attempted_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, endpoint_id, number),
    FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoint (organization_id, id) ON DELETE CASCADE
);

-- What people and Ringi do about endpoints is history, and an event, as with everything else.
ALTER TABLE history_head DROP CONSTRAINT history_head_kind_check;
ALTER TABLE history_head ADD CONSTRAINT history_head_kind_check
    CHECK (kind IN ('member', 'job', 'closing', 'access', 'webhook')) NOT VALID;

CREATE OR REPLACE FUNCTION outbox_event_is_sound(r outbox_event) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text := CASE
        WHEN r.subject_kind NOT IN ('request', 'member', 'job', 'closing', 'webhook') THEN 'subject_kind'
        WHEN NOT char_length(r.subject_id) BETWEEN 1 AND 100 THEN 'subject_id'
        WHEN r.seq < 1 THEN 'seq'
        WHEN NOT char_length(r.event_type) BETWEEN 1 AND 100 THEN 'event_type'
        WHEN jsonb_typeof(r.payload) <> 'object' THEN 'payload'
        WHEN NOT (r.occurred_at >= '1970-01-01Z' AND r.occurred_at < '2200-01-01Z') THEN 'occurred_at'
    END;
BEGIN
    RETURN broken IS NULL OR refuse_row('outbox_event', broken);
END $$;
