-- Quicker reads and decisions.
--
-- First what lists, counts and searches need in an organization with many requests, without an index on anything that a
-- decision changes in the request's own row (which would cost that row its HOT updates): see decision 32.

-- The requests that are not final: few beside all that ever were. The inbox looks at these, and counts at these and at the
-- final rows of the history. Written by the triggers alone, so whoever writes a request can't forget it. That a row is
-- here says only where to look: every read judges by `visible_request`.
CREATE TABLE open_request (
    organization_id uuid NOT NULL,
    request_id      uuid NOT NULL,
    PRIMARY KEY (organization_id, request_id)
)
-- Rows come and go all day, in a table that stays small.
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO open_request (organization_id, request_id)
SELECT organization_id, id FROM approval_request WHERE status NOT IN ('approved', 'rejected', 'withdrawn');

CREATE FUNCTION approval_request_opens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status NOT IN ('approved', 'rejected', 'withdrawn') THEN
        INSERT INTO open_request (organization_id, request_id) VALUES (NEW.organization_id, NEW.id);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION approval_request_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status IN ('approved', 'rejected', 'withdrawn') THEN
        DELETE FROM open_request WHERE organization_id = NEW.organization_id AND request_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;

-- Without WHEN, whose text would be read anew in each statement: the functions are read once for each connection.
CREATE TRIGGER approval_request_opens AFTER INSERT ON approval_request
    FOR EACH ROW EXECUTE FUNCTION approval_request_opens();
CREATE TRIGGER approval_request_ends AFTER UPDATE ON approval_request
    FOR EACH ROW EXECUTE FUNCTION approval_request_ends();

-- How many requests ended, and how: one row each, since nothing leads out of a final status. Without those that were
-- withdrawn before anybody else could see them.
CREATE INDEX approval_history_final ON approval_history (organization_id, to_status)
    WHERE to_status IN ('approved', 'rejected', 'withdrawn') AND from_status <> 'draft';

-- Searching. A text is found by the characters in it and by each two that stand together, so that words of one and two
-- characters are found as well as long ones, which trigrams can't do, and most Japanese words have two. Each is hashed with
-- the organization: one organization's searches meet nobody else's rows. What is found by it is looked at again, to the
-- letter, so a collision costs a look and nothing else.
--
-- Of a text that is sought, only what narrows: its pairs, or the one character that it is.
CREATE FUNCTION search_grams(organization uuid, content text, sought boolean) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
DECLARE
    whose integer := hashtext(organization::text);
    chars text[] := string_to_array(lower(content), NULL);
BEGIN
    RETURN ARRAY(SELECT DISTINCT hashtext(a || b) # whose FROM unnest(chars, chars[2:]) t (a, b) WHERE b IS NOT NULL)
        || CASE WHEN sought AND cardinality(chars) > 1 THEN '{}'
                ELSE ARRAY(SELECT DISTINCT hashtext(a) # whose FROM unnest(chars) a) END;
END $$;

-- On the contents, which only those who write them change: no decision pays for it. The list of what is not yet sorted in
-- is read by every search, so it is short.
CREATE INDEX approval_version_grams ON approval_version
    USING gin (search_grams(organization_id, title || E'\n' || description, false))
    WITH (gin_pending_list_limit = 256);

-- What only some decisions write, called by their one statement (`write_decision` of `pg/approvals.rs`). As parts of that
-- statement these would be opened and made ready at every decision: a seventh of its time.
CREATE FUNCTION start_job(organization uuid, request uuid, at timestamptz) RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job (organization_id, request_id, state, next_try_at, started_at)
    VALUES (organization, request, 'waiting', at, at);
    RETURN true;
END $$;

CREATE FUNCTION keep_answer(organization uuid, caller uuid, called text, answered smallint, place text, answer bytea)
    RETURNS boolean VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    UPDATE idempotency_key k SET status = answered, location = place, body = answer
    WHERE k.organization_id = organization AND k.user_id = caller AND k.key = called;
    RETURN true;
END $$;
