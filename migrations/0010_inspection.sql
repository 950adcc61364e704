-- What an inspector reads: one list over both histories, in an order that never changes.
--
-- One index more on approval_history, and every decision pays for it: the list, `from` and `to`, `action` and every
-- export walk it. `request_id` goes by the primary key, `actor_id` by approval_history_by_actor or by this one,
-- whichever is shorter.
CREATE INDEX approval_history_in_order ON approval_history (organization_id, occurred_at, request_id, version);

-- The same for the other history, whose filters all walk it. Collated, so that the order is the same in every
-- database, and the one in which the two lists are merged.
CREATE INDEX organization_history_in_order
    ON organization_history (organization_id, occurred_at, kind COLLATE "C", subject_id COLLATE "C", seq);

-- A walk is recorded once, whoever tries to record it again; and a later page finds the record of its walk.
CREATE UNIQUE INDEX organization_history_walk ON organization_history (organization_id, subject_id, (detail ->> 'walk'))
    WHERE kind = 'access';
