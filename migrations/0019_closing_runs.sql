-- The run that closes a month, and the charge of an approval at its price.

ALTER TABLE billing_period ALTER COLUMN rows_per_second TYPE bigint;

-- What a run that was interrupted left behind, for who goes on with it.
CREATE INDEX billing_period_under_way ON billing_period (organization_id, period)
    WHERE status = 'closing' AND blocked_at IS NULL;

-- Moves a blocked charge into the next open month, in the order of locks. Says which month that is; NULL: the charge is
-- not blocked in this month.
CREATE FUNCTION exclude_charge(organization uuid, month date, charge_id uuid) RETURNS date VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    target date;
BEGIN
    -- The month itself is closing, so it is passed over.
    target := enter_period(organization, month);
    PERFORM FROM billing_period p
    WHERE p.organization_id = organization AND p.period = month AND p.status = 'closing' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM FROM charge c WHERE c.organization_id = organization AND c.id = exclude_charge.charge_id FOR UPDATE;
    DELETE FROM blocked_charge b
    WHERE b.organization_id = organization AND b.charge_id = exclude_charge.charge_id AND b.period = month;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE charge c SET period = target, late_of = coalesce(c.late_of, month), version = c.version + 1
    WHERE c.organization_id = organization AND c.id = exclude_charge.charge_id;
    UPDATE billing_period p SET generation = p.generation + 1, total = greatest(p.total - 1, 0)
    WHERE p.organization_id = organization AND p.period = month;
    RETURN target;
END $$;

-- Each approval with an amount writes a charge, so its walls are cheap ones: one CHECK whose function is read once for each
-- connection (see 0011), and no foreign keys to the member and the request, which are rows that no one can delete
-- (their history refers to them, and the members' trigger refuses it).
CREATE FUNCTION charge_is_sound(r charge) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text := CASE
        WHEN NOT (EXTRACT(day FROM r.period) = 1 AND r.period >= '1970-01-01' AND r.period < '2200-01-01') THEN 'period'
        WHEN NOT (EXTRACT(day FROM r.late_of) = 1 AND r.late_of < r.period) THEN 'late_of'
        WHEN NOT (r.occurred_at >= '1970-01-01Z' AND r.occurred_at < '2200-01-01Z') THEN 'occurred_at'
        -- In the currency's minor unit; at most 2^53 - 1 to either side. Only what takes another charge back is below zero.
        WHEN NOT r.amount BETWEEN -9007199254740991 AND 9007199254740991 THEN 'amount'
        WHEN r.amount < 0 AND r.reverses IS NULL THEN 'amount'
        WHEN r.currency !~ '^[A-Z]{3}$' THEN 'currency'
        WHEN char_length(r.description) > 1000 THEN 'description'
        WHEN r.reverses = r.id OR (r.reverses IS NOT NULL AND r.request_id IS NOT NULL) THEN 'reverses'
        WHEN r.version < 1 THEN 'version'
        WHEN NOT (r.created_at >= '1970-01-01Z' AND r.created_at < '2200-01-01Z') THEN 'created_at'
    END;
BEGIN
    RETURN broken IS NULL OR refuse_row('charge', broken);
END $$;

DO $$
DECLARE
    dropped record;
BEGIN
    FOR dropped IN
        SELECT conname FROM pg_constraint
        WHERE conrelid = 'charge'::regclass
          AND (contype = 'c' OR (contype = 'f' AND confrelid IN ('organization_member'::regclass, 'approval_request'::regclass)))
    LOOP
        EXECUTE format('ALTER TABLE charge DROP CONSTRAINT %I', dropped.conname);
    END LOOP;
END $$;
ALTER TABLE charge ADD CONSTRAINT charge_is_sound CHECK (charge_is_sound(charge));

-- As before, but the id is made here: the statement of an approval has nothing to send for it.
DROP FUNCTION charge_approval(uuid, uuid, uuid, bigint, text, text, timestamptz, uuid);
CREATE FUNCTION charge_approval(
    organization uuid, request uuid, amount bigint, currency text, title text, decided_at timestamptz, decided_by uuid
) RETURNS date VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    home  date;
    month date;
    made  date;
BEGIN
    SELECT date_trunc('month', decided_at AT TIME ZONE o.time_zone)::date INTO home
    FROM organization o WHERE o.id = organization;
    month := enter_period(organization, home);
    INSERT INTO charge
        (organization_id, id, period, late_of, occurred_at, amount, currency, description, request_id, created_by,
         created_at)
    VALUES (organization, gen_random_uuid(), month, CASE WHEN month > home THEN home END, decided_at, amount, currency,
            title, request, decided_by, decided_at)
    ON CONFLICT DO NOTHING
    RETURNING period INTO made;
    RETURN made;
END $$;
