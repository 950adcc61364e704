-- Closed months: the confirmed copy of each charge, the totals, and the rows that stand in the way.
--
-- Whether a charge is processed is derived from its confirmed row, which is written once: one truth, and half the
-- writes of a flag (decision 0014).

CREATE TABLE confirmed_charge (
    organization_id uuid        NOT NULL,
    charge_id       uuid        NOT NULL,
    period          date        NOT NULL CHECK (EXTRACT(day FROM period) = 1),
    occurred_at     timestamptz NOT NULL CHECK (occurred_at >= '1970-01-01Z' AND occurred_at < '2200-01-01Z'),
    amount          bigint      NOT NULL CHECK (amount BETWEEN -9007199254740991 AND 9007199254740991),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    description     text        CHECK (char_length(description) <= 1000),
    reverses        uuid,
    request_id      uuid,
    -- A charge is confirmed once, whatever runs and however often.
    PRIMARY KEY (organization_id, charge_id),
    FOREIGN KEY (organization_id, charge_id) REFERENCES charge (organization_id, id),
    -- Only what is confirmed can be taken back.
    FOREIGN KEY (organization_id, reverses) REFERENCES confirmed_charge (organization_id, charge_id),
    CHECK (amount >= 0 OR reverses IS NOT NULL)
);

-- A statement is read in the order of what happened.
CREATE INDEX confirmed_charge_in_order ON confirmed_charge (organization_id, period, occurred_at, charge_id);

CREATE TRIGGER confirmed_charge_append_only BEFORE UPDATE OR DELETE ON confirmed_charge
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER confirmed_charge_no_truncate BEFORE TRUNCATE ON confirmed_charge
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A closed month never changes, and an open one has nothing confirmed.
CREATE FUNCTION confirmed_charge_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wrong date;
BEGIN
    SELECT a.period INTO wrong
    FROM (SELECT DISTINCT organization_id, period FROM added) a
    WHERE NOT EXISTS (SELECT FROM billing_period p
                      WHERE p.organization_id = a.organization_id AND p.period = a.period AND p.status = 'closing')
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'month % is not closing: nothing can be confirmed in it', wrong
            USING ERRCODE = 'object_not_in_prerequisite_state', CONSTRAINT = 'confirmed_charge_guard';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER confirmed_charge_guard AFTER INSERT ON confirmed_charge
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION confirmed_charge_guard();

-- What is taken back must be confirmed, in the same currency, with exactly the opposite amount.
CREATE FUNCTION confirmed_reversal_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    target confirmed_charge;
    wrong  text;
BEGIN
    SELECT * INTO target FROM confirmed_charge c
    WHERE c.organization_id = NEW.organization_id AND c.charge_id = NEW.reverses;
    wrong := CASE
        WHEN NOT FOUND THEN 'is not confirmed'
        WHEN target.currency <> NEW.currency THEN 'is in another currency'
        WHEN target.amount <> -NEW.amount THEN 'has not exactly the opposite amount'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the charge % that it reverses %', NEW.reverses, wrong
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'reversal_invalid';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER confirmed_reversal_guard BEFORE INSERT ON confirmed_charge
    FOR EACH ROW WHEN (NEW.reverses IS NOT NULL) EXECUTE FUNCTION confirmed_reversal_guard();

-- What a charge was never changes, its version grows by one, and what is confirmed is not changed at all.
CREATE FUNCTION charge_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.organization_id, NEW.id, NEW.reverses, NEW.request_id, NEW.created_by, NEW.created_at)
       IS DISTINCT FROM
       (OLD.organization_id, OLD.id, OLD.reverses, OLD.request_id, OLD.created_by, OLD.created_at)
       OR NEW.version <> OLD.version + 1
       OR EXISTS (SELECT FROM confirmed_charge c WHERE c.organization_id = OLD.organization_id AND c.charge_id = OLD.id)
    THEN
        RAISE EXCEPTION 'charge % is confirmed, or this is not the way to correct it', OLD.id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'charge_guard';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER charge_guard BEFORE UPDATE ON charge
    FOR EACH ROW EXECUTE FUNCTION charge_guard();

-- The rows that a run could not confirm. A row goes when its charge is corrected, moved or confirmed.
CREATE TABLE blocked_charge (
    organization_id uuid        NOT NULL,
    charge_id       uuid        NOT NULL,
    period          date        NOT NULL CHECK (EXTRACT(day FROM period) = 1),
    code            text        NOT NULL CHECK (char_length(code) BETWEEN 1 AND 50),
    detail          text        NOT NULL CHECK (char_length(detail) BETWEEN 1 AND 1000),
    blocked_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, charge_id),
    FOREIGN KEY (organization_id, charge_id) REFERENCES charge (organization_id, id)
);

CREATE INDEX blocked_charge_of_period ON blocked_charge (organization_id, period, charge_id);

-- What a closed month sums to, stored in the instant in which it closed.
CREATE TABLE billing_total (
    organization_id uuid    NOT NULL,
    period          date    NOT NULL,
    currency        text    NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    -- Beyond 64 bits: a thousand charges can pass 2^63.
    total           numeric NOT NULL CHECK (total = trunc(total)),
    count           bigint  NOT NULL CHECK (count >= 1),
    PRIMARY KEY (organization_id, period, currency),
    FOREIGN KEY (organization_id, period) REFERENCES billing_period (organization_id, period)
);

CREATE TRIGGER billing_total_append_only BEFORE UPDATE OR DELETE ON billing_total
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER billing_total_no_truncate BEFORE TRUNCATE ON billing_total
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Takes what a correction needs, in the order of locks: the fences of the charge's month and of the one that it goes
-- into when it occurs at `moment`, ascending, and the month's row where the charge is blocked, since correcting it
-- makes a new generation. A correction within the same month leaves the charge where it is.
CREATE FUNCTION enter_correction(organization uuid, charge_id uuid, moment timestamptz,
                                 OUT period date, OUT target date, OUT late_of date, OUT holds_period boolean)
    VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    home     date := month_of(organization, moment);
    old_home date;
BEGIN
    SELECT c.period, c.late_of, month_of(organization, c.occurred_at) INTO period, late_of, old_home
    FROM charge c WHERE c.organization_id = organization AND c.id = enter_correction.charge_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF old_home = home THEN
        PERFORM pg_advisory_xact_lock_shared(period_fence(organization, period));
        target := period;
    ELSE
        IF period < home THEN
            PERFORM pg_advisory_xact_lock_shared(period_fence(organization, period));
        END IF;
        target := enter_period(organization, home);
        late_of := CASE WHEN target > home THEN home END;
        IF period >= home THEN
            PERFORM pg_advisory_xact_lock_shared(period_fence(organization, period));
        END IF;
    END IF;
    PERFORM FROM billing_period p
    WHERE p.organization_id = organization AND p.period = enter_correction.period AND p.status = 'closing'
      AND EXISTS (SELECT FROM blocked_charge b
                  WHERE b.organization_id = organization AND b.charge_id = enter_correction.charge_id)
    FOR NO KEY UPDATE;
    holds_period := FOUND;
END $$;
