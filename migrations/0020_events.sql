-- The events that programs, people and open pages are told about, in one order for each organization.
--
-- The outbox (0006) is where a change leaves its event: cheap, and in no order, since a transaction that began later may
-- commit first. The relay, of which there is one (its lease), moves what has been committed from there to here and
-- numbers it: `position`, by which webhooks, replays and `Last-Event-ID` go. So a decision pays for one plain insert, and
-- whoever reads after a position misses nothing.

CREATE TABLE event_log (
    organization_id uuid             NOT NULL,
    -- From 1, without gaps, in the order in which the relay found them; of one subject, in the order of `seq`.
    position        bigint           NOT NULL CHECK (position >= 1),
    subject_kind    text COLLATE "C" NOT NULL,
    subject_id      text COLLATE "C" NOT NULL,
    seq             bigint           NOT NULL,
    event_type      text COLLATE "C" NOT NULL,
    payload         jsonb            NOT NULL,
    occurred_at     timestamptz      NOT NULL,
    -- Of a request, from before it was first submitted: for its applicant's eyes only. Programs are told of it when, and
    -- if, the request is submitted.
    private         boolean          NOT NULL,
    PRIMARY KEY (organization_id, position)
);

-- What a first submission makes public. Small: drafts are few, and an event is private for good.
CREATE INDEX event_log_private ON event_log (organization_id, subject_kind, subject_id, seq) WHERE private;

-- Where an organization's log begins and ends.
CREATE TABLE event_stream (
    organization_id uuid        PRIMARY KEY,
    -- The newest position.
    last_position   bigint      NOT NULL CHECK (last_position >= 0),
    -- Everything up to here has been cleaned away.
    trimmed         bigint      NOT NULL DEFAULT 0 CHECK (trimmed BETWEEN 0 AND last_position),
    updated_at      timestamptz NOT NULL CHECK (updated_at >= '1970-01-01Z' AND updated_at < '2200-01-01Z')
) WITH (fillfactor = 50);

-- Rows come and go all day: swept by their number, not by a share of the table.
ALTER TABLE outbox_event SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
