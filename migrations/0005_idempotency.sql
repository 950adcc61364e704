-- The answer that was given under an Idempotency-Key, written in the transaction of the effect itself, so that key
-- and effect cannot part. The row is inserted empty (a second call with the same key waits on it) and filled by the
-- statement that writes the effect; a refused call rolls back and leaves the key free.

CREATE TABLE idempotency_key (
    organization_id uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    key             text        NOT NULL CHECK (key ~ '^[!-~]{1,255}$'),
    -- SHA-256 over method, path and the body as parsed: the same key for another call is a mistake to be told.
    fingerprint     bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    status          smallint    CHECK (status BETWEEN 200 AND 299),
    location        text,
    body            bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id, key),
    FOREIGN KEY (organization_id, user_id) REFERENCES organization_member (organization_id, user_id),
    CHECK ((status IS NULL) = (body IS NULL))
) WITH (fillfactor = 70);
