-- Kept answers are forgotten after a while, oldest first, an organization at a time, a few hundred in a statement: the index
-- finds them without a walk through all of them. It costs a write with a key one entry; created_at never changes, so that the
-- update which fills the row stays HOT.

CREATE INDEX idempotency_key_by_age ON idempotency_key (organization_id, created_at);

-- A dump is restored without a search path, so that nobody's function is called by mistake: what a CHECK calls must be named with
-- its schema, or no row goes back into its table. That of refuse_row was not, in the functions of 0011 and 0019. A test restores a dump.

DO $$
DECLARE caller oid;
BEGIN
    FOR caller IN
        SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ~ '(?<![.\w])refuse_row\('
    LOOP
        EXECUTE regexp_replace(pg_get_functiondef(caller), '(?<![.\w])refuse_row\(', 'public.refuse_row(', 'g');
    END LOOP;
END $$;
