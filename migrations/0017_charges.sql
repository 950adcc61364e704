-- Charges: what was spent. Each belongs to one month, decided once, when it is written.

-- A month of an organization. A month without a row is open: nobody has begun to close it.
CREATE TABLE billing_period (
    organization_id uuid        NOT NULL REFERENCES organization (id),
    -- Its first day.
    period          date        NOT NULL CHECK (EXTRACT(day FROM period) = 1 AND period >= '1970-01-01' AND period < '2200-01-01'),
    -- `closing` from the first run on: nothing more comes in, and what is in can't change, but for blocked rows.
    status          text        NOT NULL CHECK (status IN ('closing', 'closed')),
    -- Grows with every repair and exclusion: a proof counts only for the generation that it looked at.
    generation      bigint      NOT NULL DEFAULT 0 CHECK (generation >= 0),
    started_at      timestamptz NOT NULL CHECK (started_at >= '1970-01-01Z' AND started_at < '2200-01-01Z'),
    -- The last run ended with blocked rows. NULL: it has not ended, or closed the month.
    blocked_at      timestamptz CHECK (blocked_at >= started_at AND blocked_at < '2200-01-01Z'),
    closed_at       timestamptz CHECK (closed_at >= started_at AND closed_at < '2200-01-01Z'),
    -- How far the present run is, for people who watch; written now and then, outside of the run's transactions.
    total           bigint      NOT NULL DEFAULT 0 CHECK (total >= 0),
    confirmed       bigint      NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    rows_per_second double precision NOT NULL DEFAULT 0 CHECK (rows_per_second >= 0),
    PRIMARY KEY (organization_id, period),
    CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
    CHECK (status = 'closing' OR blocked_at IS NULL)
) WITH (fillfactor = 50);

CREATE FUNCTION billing_period_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'closed' OR NEW.generation < OLD.generation
       OR (NEW.organization_id, NEW.period, NEW.started_at) <> (OLD.organization_id, OLD.period, OLD.started_at) THEN
        RAISE EXCEPTION 'month % is closed, or this is not the way to close it', OLD.period
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'billing_period_guard';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_period_guard BEFORE UPDATE ON billing_period
    FOR EACH ROW EXECUTE FUNCTION billing_period_guard();
CREATE TRIGGER billing_period_never_deleted BEFORE DELETE ON billing_period
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_period_no_truncate BEFORE TRUNCATE ON billing_period
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE charge (
    organization_id uuid        NOT NULL,
    -- Made by the client, or by the server for an approved request.
    id              uuid        NOT NULL,
    -- The month that it belongs to. No foreign key: it would make all who write into a month lock its one row; and an
    -- open month needs no row. The fence below decides, when the charge is written.
    period          date        NOT NULL CHECK (EXTRACT(day FROM period) = 1 AND period >= '1970-01-01' AND period < '2200-01-01'),
    -- The month that it would have belonged to, had that not been closed or closing.
    late_of         date        CHECK (EXTRACT(day FROM late_of) = 1 AND late_of < period),
    occurred_at     timestamptz NOT NULL CHECK (occurred_at >= '1970-01-01Z' AND occurred_at < '2200-01-01Z'),
    -- In the currency's minor unit; at most 2^53 - 1 to either side.
    amount          bigint      NOT NULL CHECK (amount BETWEEN -9007199254740991 AND 9007199254740991),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    description     text        CHECK (char_length(description) <= 1000),
    -- The charge that this one takes back. The only way to a negative amount.
    reverses        uuid        CHECK (reverses <> id),
    -- The approved request that it comes from.
    request_id      uuid,
    version         bigint      NOT NULL DEFAULT 1 CHECK (version >= 1),
    created_by      uuid        NOT NULL,
    created_at      timestamptz NOT NULL CHECK (created_at >= '1970-01-01Z' AND created_at < '2200-01-01Z'),
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, created_by) REFERENCES organization_member (organization_id, user_id),
    FOREIGN KEY (organization_id, request_id) REFERENCES approval_request (organization_id, id),
    FOREIGN KEY (organization_id, reverses) REFERENCES charge (organization_id, id),
    CHECK (amount >= 0 OR reverses IS NOT NULL),
    CHECK (reverses IS NULL OR request_id IS NULL)
);

-- A month's charges by their key: what a closing walks, and the sum of what is upcoming.
CREATE INDEX charge_of_period ON charge (organization_id, period, id);
-- A charge is taken back once, and a request makes one charge.
CREATE UNIQUE INDEX charge_reverses ON charge (organization_id, reverses) WHERE reverses IS NOT NULL;
CREATE UNIQUE INDEX charge_of_request ON charge (organization_id, request_id) WHERE request_id IS NOT NULL;

CREATE TRIGGER charge_never_deleted BEFORE DELETE ON charge
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER charge_no_truncate BEFORE TRUNCATE ON charge
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The fence of a month. Who writes a charge into it takes this key shared, who begins to close it takes it alone, for
-- an instant; those queue, where sharers of a row would overtake the one who waits for as long as they overlap.
CREATE FUNCTION period_fence(organization_id uuid, period date) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN hashtextextended('period/' || organization_id::text || '/' || (period - date '1970-01-01')::text, 0);

-- The month of a moment, by the clocks of the organization's time zone.
CREATE FUNCTION month_of(organization uuid, moment timestamptz) RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT date_trunc('month', moment AT TIME ZONE o.time_zone)::date FROM organization o WHERE o.id = organization);

-- Enters a month to write into it: the first one from `month` on that nobody has begun to close. Its fence, and those
-- of the months passed over, are held until the transaction ends, so it stays the right one. Volatile, so each
-- statement has a snapshot of its own: the row is read after the fence was waited for.
CREATE FUNCTION enter_period(organization uuid, month date) RETURNS date VOLATILE LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        PERFORM pg_advisory_xact_lock_shared(period_fence(organization, month));
        EXIT WHEN NOT EXISTS (SELECT FROM billing_period p WHERE p.organization_id = organization AND p.period = month);
        month := (month + interval '1 month')::date;
    END LOOP;
    RETURN month;
END $$;

-- The same for many charges at once: for each moment, in order, its own month and the one that it goes into. Months are
-- entered in ascending order, so that two who write into several can't wait for each other.
CREATE FUNCTION place_charges(organization uuid, moments timestamptz[])
    RETURNS TABLE (place bigint, home date, period date) VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    homes   date[];
    entered jsonb := '{}';
    month   date;
BEGIN
    SELECT array_agg(month_of(organization, m.moment) ORDER BY m.n) INTO homes
    FROM unnest(moments) WITH ORDINALITY m (moment, n);
    FOR month IN SELECT DISTINCT h FROM unnest(homes) h ORDER BY h LOOP
        entered := entered || jsonb_build_object(month::text, enter_period(organization, month));
    END LOOP;
    RETURN QUERY SELECT n, h, (entered ->> h::text)::date FROM unnest(homes) WITH ORDINALITY u (h, n) ORDER BY n;
END $$;

-- The months with charges that are not closed yet: an index probe a month, whatever is in them.
CREATE FUNCTION unclosed_months(organization uuid) RETURNS SETOF date STABLE LANGUAGE sql AS $$
    WITH RECURSIVE month AS (
        SELECT (SELECT c.period FROM charge c WHERE c.organization_id = organization ORDER BY c.period LIMIT 1) AS period
        UNION ALL
        SELECT (SELECT c.period FROM charge c WHERE c.organization_id = organization AND c.period > month.period
                ORDER BY c.period LIMIT 1)
        FROM month WHERE month.period IS NOT NULL
    )
    SELECT month.period FROM month
    WHERE month.period IS NOT NULL
      AND NOT EXISTS (SELECT FROM billing_period p
                      WHERE p.organization_id = organization AND p.period = month.period AND p.status = 'closed')
$$;

-- The charge of an approved request, in the transaction of the approval, or later for a request that was approved
-- before there were charges. Says in which month it stands; the second time nothing, since it is there already.
CREATE FUNCTION charge_approval(
    organization uuid, charge_id uuid, request uuid, amount bigint, currency text, title text, decided_at timestamptz,
    decided_by uuid
) RETURNS date VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    home  date := month_of(organization, decided_at);
    month date := enter_period(organization, home);
    made  date;
BEGIN
    INSERT INTO charge
        (organization_id, id, period, late_of, occurred_at, amount, currency, description, request_id, created_by,
         created_at)
    VALUES (organization, charge_id, month, CASE WHEN month > home THEN home END, decided_at, amount, currency, title,
            request, decided_by, clock_timestamp())
    ON CONFLICT DO NOTHING
    RETURNING period INTO made;
    RETURN made;
END $$;
