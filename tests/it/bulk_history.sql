-- Many requests with whole chains, made by the database alone: create, submit, approve. The hashes are computed here
-- anew, from their documented form. {organization}, {applicant}, {approver} and {requests} are filled in by who runs it.
CREATE TEMP TABLE bulk AS
SELECT n, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id, 'Bulk ' || n AS title,
       timestamptz '2026-01-01 00:00:00Z' + n * interval '3 seconds' AS made,
       sha256(convert_to('{"amount":1200,"currency":"JPY","description":"why","title":"Bulk ' || n || '"}', 'UTF8')) AS content,
       NULL::bytea AS h1, NULL::bytea AS h2, NULL::bytea AS h3
FROM generate_series(1, {requests}) AS n;

CREATE FUNCTION pg_temp.entry(previous bytea, action text, actor uuid, name text, content bytea, from_status text,
                              at timestamptz, id uuid, to_status text, version int) RETURNS bytea LANGUAGE sql AS $$
    SELECT sha256(previous || convert_to(
        '{"action":"' || action || '","actor_id":"' || actor || '","actor_name":"' || name
        || '","content_hash":"' || encode(content, 'hex')
        || '","from_status":' || coalesce('"' || from_status || '"', 'null') || ',"hash_format":1,"occurred_at":"'
        || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        || '","organization_id":"{organization}","reason":null,"request_id":"' || id
        || '","to_status":"' || to_status || '","version":' || version || '}', 'UTF8'))
$$;

UPDATE bulk SET h1 = pg_temp.entry(decode(repeat('00', 32), 'hex'), 'create', '{applicant}', 'Aiko Applicant', content, NULL, made, id, 'draft', 1);
UPDATE bulk SET h2 = pg_temp.entry(h1, 'submit', '{applicant}', 'Aiko Applicant', content, 'draft', made + interval '1 second', id, 'pending', 2);
UPDATE bulk SET h3 = pg_temp.entry(h2, 'approve', '{approver}', 'Ben Approver', content, 'pending', made + interval '2 seconds', id, 'approved', 3);

INSERT INTO approval_request
  (organization_id, id, applicant_id, title, description, amount, currency, status, version, content_version,
   content_hash, created_at, updated_at, submitted_at, decided_at, last_action, last_actor_id, last_actor_name, chain_hash)
SELECT '{organization}', id, '{applicant}', title, 'why', 1200, 'JPY', 'approved', 3, 1, content, made,
       made + interval '2 seconds', made + interval '1 second', made + interval '2 seconds', 'approve', '{approver}',
       'Ben Approver', h3
FROM bulk;
INSERT INTO approval_version (organization_id, request_id, version, title, description, amount, currency, content_hash)
SELECT '{organization}', id, 1, title, 'why', 1200, 'JPY', content FROM bulk;
INSERT INTO approval_history
  (organization_id, request_id, version, actor_id, actor_name, action, from_status, to_status, reason, content_hash,
   occurred_at, hash_format, entry_hash)
SELECT '{organization}', b.id, v, a, name, action, f, t, NULL, content, made + (v - 1) * interval '1 second', 1, h
FROM bulk b, LATERAL (VALUES
  (1, '{applicant}'::uuid, 'Aiko Applicant', 'create', NULL, 'draft', h1),
  (2, '{applicant}'::uuid, 'Aiko Applicant', 'submit', 'draft', 'pending', h2),
  (3, '{approver}'::uuid, 'Ben Approver', 'approve', 'pending', 'approved', h3)) AS e (v, a, name, action, f, t, h);
DROP TABLE bulk;
ANALYZE;
