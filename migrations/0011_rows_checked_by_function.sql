-- One CHECK for each table that every decision writes, in place of a dozen.
--
-- PostgreSQL reads the stored text of every CHECK of a table anew in each statement that writes to it. With the checks
-- of the request, its history and its event that was a fifth of a decision's whole time. A function is read once for
-- each connection. It is the same wall: a CHECK can't be switched off as a trigger can. The rules are those of the
-- migrations before; the error names the broken one.
--
-- Not checked again for the rows that are there: they were written under the same rules, and the migration would
-- hold everybody up.

CREATE FUNCTION refuse_row(tab text, broken text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE EXCEPTION 'new row for relation "%" breaks the rule on its %', tab, broken
        USING ERRCODE = 'check_violation', CONSTRAINT = tab || '_' || broken || '_check';
END $$;

CREATE FUNCTION approval_request_is_sound(r approval_request) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text := CASE
        WHEN NOT char_length(r.title) BETWEEN 1 AND 200 THEN 'title'
        WHEN char_length(r.description) > 10000 THEN 'description'
        -- In the currency's minor unit; at most 2^53 - 1, which JavaScript reads exactly.
        WHEN NOT r.amount BETWEEN 0 AND 9007199254740991 THEN 'amount'
        WHEN r.currency !~ '^[A-Z]{3}$' THEN 'currency'
        WHEN (r.amount IS NULL) <> (r.currency IS NULL) THEN 'money'
        WHEN r.status NOT IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn') THEN 'status'
        WHEN r.version < 1 THEN 'version'
        -- The version that wrote the content: a submit or a decision leaves the content as it was.
        WHEN NOT r.content_version BETWEEN 1 AND r.version THEN 'content_version'
        WHEN octet_length(r.content_hash) <> 32 THEN 'content_hash'
        WHEN octet_length(r.chain_hash) <> 32 THEN 'chain_hash'
        WHEN NOT char_length(r.decision_reason) BETWEEN 1 AND 2000 THEN 'decision_reason'
        WHEN NOT (r.created_at >= '1970-01-01Z' AND r.created_at < '2200-01-01Z') THEN 'created_at'
        WHEN NOT (r.updated_at >= '1970-01-01Z' AND r.updated_at < '2200-01-01Z') THEN 'updated_at'
        WHEN NOT (r.submitted_at >= '1970-01-01Z' AND r.submitted_at < '2200-01-01Z') THEN 'submitted_at'
        WHEN NOT (r.decided_at >= '1970-01-01Z' AND r.decided_at < '2200-01-01Z') THEN 'decided_at'
        WHEN r.last_action NOT IN ('create', 'edit', 'submit', 'approve', 'reject', 'send_back', 'withdraw')
            THEN 'last_action'
        WHEN r.status NOT IN ('draft', 'withdrawn') AND r.submitted_at IS NULL THEN 'submission'
        WHEN r.status IN ('approved', 'rejected') AND r.decided_at IS NULL THEN 'decision'
    END;
BEGIN
    RETURN broken IS NULL OR refuse_row('approval_request', broken);
END $$;

CREATE FUNCTION approval_history_is_sound(r approval_history) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text := CASE
        WHEN r.version < 1 THEN 'version'
        WHEN NOT char_length(r.actor_name) BETWEEN 1 AND 200 THEN 'actor_name'
        WHEN r.action NOT IN ('create', 'edit', 'submit', 'approve', 'reject', 'send_back', 'withdraw') THEN 'action'
        WHEN r.from_status NOT IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn')
            THEN 'from_status'
        WHEN r.to_status NOT IN ('draft', 'pending', 'approved', 'rejected', 'returned', 'withdrawn') THEN 'to_status'
        WHEN NOT char_length(r.reason) BETWEEN 1 AND 2000 THEN 'reason'
        WHEN r.action IN ('reject', 'send_back') AND r.reason IS NULL THEN 'reason'
        WHEN octet_length(r.content_hash) <> 32 THEN 'content_hash'
        WHEN octet_length(r.entry_hash) <> 32 THEN 'entry_hash'
        WHEN NOT (r.occurred_at >= '1970-01-01Z' AND r.occurred_at < '2200-01-01Z') THEN 'occurred_at'
        WHEN (r.action = 'create') <> (r.version = 1) OR (r.from_status IS NULL) <> (r.version = 1) THEN 'beginning'
    END;
BEGIN
    RETURN broken IS NULL OR refuse_row('approval_history', broken);
END $$;

CREATE FUNCTION outbox_event_is_sound(r outbox_event) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text := CASE
        WHEN r.subject_kind NOT IN ('request', 'member', 'job', 'closing') THEN 'subject_kind'
        WHEN NOT char_length(r.subject_id) BETWEEN 1 AND 100 THEN 'subject_id'
        WHEN r.seq < 1 THEN 'seq'
        WHEN NOT char_length(r.event_type) BETWEEN 1 AND 100 THEN 'event_type'
        WHEN jsonb_typeof(r.payload) <> 'object' THEN 'payload'
        WHEN NOT (r.occurred_at >= '1970-01-01Z' AND r.occurred_at < '2200-01-01Z') THEN 'occurred_at'
    END;
BEGIN
    RETURN broken IS NULL OR refuse_row('outbox_event', broken);
END $$;

-- Every CHECK of a table goes (their names were PostgreSQL's), and the one with the function comes.
DO $$
DECLARE
    tab text;
    dropped record;
BEGIN
    FOREACH tab IN ARRAY ARRAY ['approval_request', 'approval_history', 'outbox_event'] LOOP
        FOR dropped IN SELECT conname FROM pg_constraint WHERE conrelid = tab::regclass AND contype = 'c' LOOP
            EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', tab, dropped.conname);
        END LOOP;
        EXECUTE format('ALTER TABLE %1$I ADD CONSTRAINT %2$I CHECK (%2$I(%1$I)) NOT VALID', tab, tab || '_is_sound');
    END LOOP;
END $$;
