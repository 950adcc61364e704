-- The transactional outbox: one row for every change, written with the change. Who delivers it reads from here.
--
-- The key says which event it is (the subject and its own number), so an event needs no further id: over all
-- retries it is the same. `seq` of a request is its version.

CREATE TABLE outbox_event (
    -- No foreign key: it would make every decision lock the organization's one row, and the subject's row has one.
    organization_id uuid        NOT NULL,
    subject_kind    text        NOT NULL CHECK (subject_kind IN ('request', 'member', 'job', 'closing')),
    subject_id      text        NOT NULL CHECK (char_length(subject_id) BETWEEN 1 AND 100),
    seq             bigint      NOT NULL CHECK (seq >= 1),
    event_type      text        NOT NULL CHECK (char_length(event_type) BETWEEN 1 AND 100),
    payload         jsonb       NOT NULL CHECK (jsonb_typeof(payload) = 'object'),
    occurred_at     timestamptz NOT NULL CHECK (occurred_at >= '1970-01-01Z' AND occurred_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, subject_kind, subject_id, seq)
);
