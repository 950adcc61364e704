-- Mail to people: where they want it, what they do not want, and what is about to be sent.

-- A person's wishes in one organization. Nothing is sent to an address before whoever reads it has confirmed it.
CREATE TABLE mail_address (
    organization_id uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    -- NULL: none, so no mail.
    address         text COLLATE "C" CHECK (address ~ '^[!-~]{3,254}$'),
    language        text        NOT NULL CHECK (language IN ('en', 'ja')),
    -- The kinds that the person does not want.
    off             text[]      NOT NULL DEFAULT '{}'
        CHECK (off <@ ARRAY['decisions', 'submissions', 'closings', 'jobs']),
    confirmed_at    timestamptz CHECK (confirmed_at >= '1970-01-01Z' AND confirmed_at < '2200-01-01Z'),
    -- What links in mails are signed with. Drawn anew with each address: what was sent to an old one opens nothing.
    link_key        bytea       NOT NULL CHECK (octet_length(link_key) = 32),
    -- When a mail server last said that it never will take a mail to this address.
    refused_at      timestamptz CHECK (refused_at >= '1970-01-01Z' AND refused_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES organization_member (organization_id, user_id),
    CHECK (confirmed_at IS NULL OR address IS NOT NULL)
);

-- Each time that somebody had an address asked to confirm: what limits how often. Bounded, since older ones go when the
-- next is written.
CREATE TABLE mail_confirmation (
    organization_id uuid             NOT NULL,
    id              uuid             NOT NULL,
    user_id         uuid             NOT NULL,
    -- In small letters: spelling makes no other mailbox.
    address         text COLLATE "C" NOT NULL,
    asked_at        timestamptz      NOT NULL CHECK (asked_at >= '1970-01-01Z' AND asked_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES organization_member (organization_id, user_id)
);

CREATE INDEX mail_confirmation_by_person ON mail_confirmation (organization_id, user_id, asked_at);
-- Somebody's mailbox can be named by anybody, in any organization.
CREATE INDEX mail_confirmation_by_address ON mail_confirmation (address, asked_at);

-- How far each organization's events have been turned into mails. The nil UUID's row says since when mail is on: what
-- happened before is never mailed.
CREATE TABLE mail_cursor (
    organization_id uuid        PRIMARY KEY,
    position        bigint      NOT NULL CHECK (position >= 0),
    moved_at        timestamptz NOT NULL CHECK (moved_at >= '1970-01-01Z' AND moved_at < '2200-01-01Z')
) WITH (fillfactor = 50);

-- What is to be sent, one row for each mail, until it was. Not what it says: that is looked up when it is sent, under the
-- rights that its receiver has then.
CREATE TABLE mail_message (
    organization_id uuid        NOT NULL,
    -- The mail's Message-ID, the same at every attempt.
    id              uuid        NOT NULL,
    user_id         uuid        NOT NULL,
    kind            text        NOT NULL CHECK (kind IN ('confirmation', 'decisions', 'submissions', 'closings', 'jobs')),
    -- The events that it tells of: those of its kind from the first position to the last. Both 0 in a confirmation.
    first_position  bigint      NOT NULL CHECK (first_position >= 0),
    last_position   bigint      NOT NULL CHECK (last_position >= first_position),
    created_at      timestamptz NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    -- Not before. While an attempt is under way: when it counts as lost.
    due_at          timestamptz NOT NULL CHECK (due_at >= '1970-01-01Z' AND due_at < '2200-01-01Z'),
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 70);

CREATE INDEX mail_message_due ON mail_message (organization_id, due_at);

-- What is submitted meanwhile goes into the digest that is still to be begun.
CREATE UNIQUE INDEX mail_message_open_digest ON mail_message (organization_id, user_id)
    WHERE kind = 'submissions' AND attempts = 0;

-- Rows come and go all day: swept by their number, not by a share of the table.
ALTER TABLE mail_message SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
