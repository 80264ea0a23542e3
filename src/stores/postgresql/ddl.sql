-- The tables and functions of latchkey's locks, version 1. Run it again to update them:
--   latchkey ddl postgresql | psql <database>
--
-- One row of latchkey.lock is one hold. It is deleted when the hold ends, or after its lease has
-- ended. A semaphore has a row more, which stays until somebody deletes the semaphore: while its key
-- has this row, whose owner is '*', no lock of the key is granted. All times are the server's.
--
-- Each function that changes the rows of a name first takes a transaction-level advisory lock on that
-- name, which serves as a mutex: it excludes others also while the name has no row, and it cannot
-- outlive the transaction. Every role that may connect can take an advisory lock. Functions that
-- prolong or end a hold therefore do without the mutex if they do not get it: they change one row,
-- which PostgreSQL locks, and read its columns again after a wait for that lock.
--
-- The search_path decides which functions and operators a statement calls. Each function has its own,
-- or looks at it before anything else, or names the schema of all that it calls.
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT pg_advisory_xact_lock(7809644666444609893);
CREATE SCHEMA IF NOT EXISTS latchkey;

CREATE TABLE IF NOT EXISTS latchkey.lock (
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  mode text COLLATE "C" NOT NULL,    -- x: REENTRANT, FAIR or FENCED; w: WRITE; r: READ; p: PERMIT;
                                     -- s: a semaphore, which ends in the year 9999
  ends timestamptz NOT NULL,
  fence bigint NOT NULL,             -- the last fencing token of the hold, 0: none; p: how many
                                     -- permits it has; s: how many there are
  note text,                         -- the holder, for people
  PRIMARY KEY (name, owner)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The queue of a FAIR lock; and, with arrival 0, a WRITE that keeps new READs out.
CREATE TABLE IF NOT EXISTS latchkey.place (
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  arrival bigint NOT NULL,
  until timestamptz NOT NULL,
  session integer NOT NULL,          -- the server process of the last attempt
  PRIMARY KEY (name, owner)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Who is notified of a release: one row for each process that waits, or for each waiter of FAIR.
CREATE TABLE IF NOT EXISTS latchkey.waiter (
  name text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL, -- of NOTIFY
  owner text COLLATE "C" NOT NULL,   -- FAIR: the waiter; otherwise empty
  until timestamptz NOT NULL,
  session integer NOT NULL,          -- the server process that listens
  PRIMARY KEY (name, channel, owner)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The last fencing token of each name that ever had one. These rows stay.
CREATE TABLE IF NOT EXISTS latchkey.token (
  name text COLLATE "C" PRIMARY KEY,
  fence bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- When rows that have ended are deleted next. One row.
CREATE TABLE IF NOT EXISTS latchkey.sweep (due timestamptz NOT NULL);
INSERT INTO latchkey.sweep SELECT clock_timestamp() WHERE NOT EXISTS (SELECT FROM latchkey.sweep);

CREATE INDEX IF NOT EXISTS lock_ends ON latchkey.lock (ends);
CREATE INDEX IF NOT EXISTS place_until ON latchkey.place (until);
CREATE INDEX IF NOT EXISTS waiter_channel ON latchkey.waiter (channel);

-- Tables that are new in a database have the grants of latchkey.lock.
DO $$
DECLARE
  each record;
BEGIN
  FOR each IN SELECT t.name, a.privilege_type AS privilege,
      CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role
      FROM pg_class c, aclexplode(c.relacl) a, (VALUES ('token'), ('sweep')) AS t (name)
      WHERE c.oid = 'latchkey.lock'::regclass AND a.grantee <> c.relowner
        AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') LOOP
    EXECUTE format('GRANT %s ON latchkey.%s TO %s', each.privilege, each.name, each.role);
  END LOOP;
END $$;

CREATE SEQUENCE IF NOT EXISTS latchkey.arrival;
-- Programs of before latchkey 0.2 look whether they may use it.
CREATE SEQUENCE IF NOT EXISTS latchkey.fence;

CREATE OR REPLACE FUNCTION latchkey.version() RETURNS integer LANGUAGE sql IMMUTABLE
AS 'SELECT 1';

-- Whether the caller's search_path is the one of latchkey's sessions. A function that sets it costs
-- as much as five statements, so those that most calls are look first, and only if somebody calls
-- them by hand run themselves once more with that path.
CREATE OR REPLACE FUNCTION latchkey.is_safe() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT pg_catalog.current_setting('search_path') OPERATOR(pg_catalog.=) 'pg_catalog, pg_temp'
$$;

-- Takes the mutex of a name, and returns the time afterwards. An expression that reads no table costs
-- a tenth of a PERFORM.
CREATE OR REPLACE FUNCTION latchkey.enter(its_name text) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN CASE WHEN pg_catalog.pg_advisory_xact_lock(
    pg_catalog.hashtextextended(its_name, 7809644666444609893)) IS NOT NULL
    THEN pg_catalog.clock_timestamp() END;
END $$;

-- As latchkey.enter, for what must end also if somebody keeps the mutex: it waits for 200 ms.
CREATE OR REPLACE FUNCTION latchkey.enter_briefly(its_name text) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended(its_name, 7809644666444609893)) THEN
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended(its_name, 7809644666444609893));
    EXCEPTION WHEN lock_not_available THEN
      NULL;
    END;
  END IF;
  RETURN clock_timestamp();
END $$;

CREATE OR REPLACE FUNCTION latchkey.later(moment timestamptz, ms bigint)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT moment OPERATOR(pg_catalog.+) (ms::pg_catalog.float8 OPERATOR(pg_catalog.*)
    '1 millisecond'::pg_catalog.interval)
$$;

CREATE OR REPLACE FUNCTION latchkey.left_ms(ends timestamptz, moment timestamptz)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(1::pg_catalog.int8, pg_catalog.ceil(pg_catalog.date_part('epoch'::pg_catalog.text,
    ends OPERATOR(pg_catalog.-) moment) OPERATOR(pg_catalog.*) 1000::pg_catalog.float8)::pg_catalog.int8)
$$;

-- Reserves fencing tokens of a name and returns the last one. It is the larger of the last one's
-- successor and the clock in microseconds: tokens rise also after the tables were restored from a
-- backup, or deleted and created again. The caller has the mutex of the name.
CREATE OR REPLACE FUNCTION latchkey.reserve(its_name text, tokens integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  clock bigint := (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())
    OPERATOR(pg_catalog.*) 1000000::pg_catalog.float8)::pg_catalog.int8;
  last bigint;
BEGIN
  INSERT INTO latchkey.token AS t VALUES (its_name, clock OPERATOR(pg_catalog.+) tokens)
    ON CONFLICT (name) DO UPDATE
      SET fence = greatest(t.fence OPERATOR(pg_catalog.+) tokens, excluded.fence)
    RETURNING fence INTO last;
  RETURN last;
END $$;
DROP FUNCTION IF EXISTS latchkey.reserve(integer);

-- Gives holds that this transaction has acquired the last of fencing tokens that lie above those of all
-- their names. Holds that have a token keep it: an owner calls again if the reply was lost. The reply
-- is that of the acquire functions.
CREATE OR REPLACE FUNCTION latchkey.give_tokens(names text[], owners text[], tokens integer)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  token bigint := 0;
  fresh boolean := false;
  its_fence bigint;
BEGIN
  FOR member IN 1..pg_catalog.cardinality(names) LOOP
    SELECT l.fence INTO its_fence FROM latchkey.lock l
      WHERE l.name OPERATOR(pg_catalog.=) names[member]
        AND l.owner OPERATOR(pg_catalog.=) owners[member];
    fresh := fresh OR its_fence OPERATOR(pg_catalog.=) 0;
    token := greatest(token, its_fence);
  END LOOP;
  IF fresh THEN
    FOR member IN 1..pg_catalog.cardinality(names) LOOP
      token := greatest(token, latchkey.reserve(names[member], tokens));
    END LOOP;
    FOR member IN 1..pg_catalog.cardinality(names) LOOP
      UPDATE latchkey.token t SET fence = token
        WHERE t.name OPERATOR(pg_catalog.=) names[member] AND t.fence OPERATOR(pg_catalog.<) token;
      UPDATE latchkey.lock l SET fence = token
        WHERE l.name OPERATOR(pg_catalog.=) names[member]
          AND l.owner OPERATOR(pg_catalog.=) owners[member];
    END LOOP;
  END IF;
  RETURN pg_catalog.concat('g ', token);
END $$;

-- Whether a server process runs. Its number may be used again, which keeps a dead waiter's place a
-- few seconds longer.
CREATE OR REPLACE FUNCTION latchkey.runs(session integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN session OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
    OR EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity(session));
END $$;

-- Whether a NOTIFY can be added to the server's queue, which one session with an open transaction
-- can keep from being emptied. A NOTIFY that finds it full fails the commit of its transaction, a
-- release for example; without it, waiters look again by themselves.
CREATE OR REPLACE FUNCTION latchkey.may_notify() RETURNS boolean
LANGUAGE sql VOLATILE AS $$
  SELECT pg_catalog.pg_notification_queue_usage() OPERATOR(pg_catalog.<) 0.9::pg_catalog.float8
$$;

-- Notifies those who wait for a name that may be free. The first of the FAIR queue has 5 s to take
-- it. Returns how many processes were notified that wait in no queue.
CREATE OR REPLACE FUNCTION latchkey.notify_waiters(its_name text, moment timestamptz)
RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  notified integer := 0;
  can boolean := latchkey.may_notify();
  first text;
BEGIN
  IF can THEN
    PERFORM pg_notify(w.channel, ' ' || its_name) FROM latchkey.waiter w
      WHERE w.name = its_name AND w.owner = '' AND w.until > moment;
    GET DIAGNOSTICS notified = ROW_COUNT;
  END IF;
  SELECT p.owner INTO first FROM latchkey.place p
    WHERE p.name = its_name AND p.arrival > 0 AND p.until > moment AND latchkey.runs(p.session)
    ORDER BY p.arrival LIMIT 1;
  IF FOUND THEN
    UPDATE latchkey.place p SET until = latchkey.later(moment, 5000)
      WHERE p.name = its_name AND p.owner = first AND p.until > latchkey.later(moment, 5000);
    IF can THEN
      PERFORM pg_notify(w.channel, first || ' ' || its_name) FROM latchkey.waiter w
        WHERE w.name = its_name AND w.owner = first;
    END IF;
  END IF;
  RETURN notified;
END $$;

-- Notifies the clients that hold a name that somebody else has ended its holds: each checks at once
-- whether it is lost. You may call it after you have deleted rows of latchkey.lock by hand.
CREATE OR REPLACE FUNCTION latchkey.notify_holders(its_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(its_name) < 8000 AND latchkey.may_notify() THEN -- NOTIFY takes no more
    PERFORM pg_notify('latchkey_forced', its_name);
  END IF;
END $$;

-- The replies of the acquire functions: 'g <token>' granted, 'b <ms> <holder>' busy. The holder of a
-- semaphore's key is '*'.
CREATE OR REPLACE FUNCTION latchkey.acquire(
  its_name text, its_owner text, its_mode text, lease bigint, tokens integer, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  held record;
  token bigint := 0;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.acquire_anywhere(its_name, its_owner, its_mode, lease, tokens, its_note);
  END IF;
  -- As latchkey.enter, and a free name takes one statement: this is what most calls are.
  moment := CASE WHEN pg_advisory_xact_lock(hashtextextended(its_name, 7809644666444609893))
    IS NOT NULL THEN clock_timestamp() END;
  INSERT INTO latchkey.lock SELECT its_name, its_owner, its_mode,
    moment + lease * interval '1 millisecond',
    CASE WHEN tokens > 0 THEN latchkey.reserve(its_name, tokens) ELSE 0 END, its_note
    WHERE NOT EXISTS (SELECT FROM latchkey.lock l WHERE l.name = its_name)
    RETURNING fence INTO token;
  IF FOUND THEN
    RETURN 'g ' || token;
  END IF;
  token := 0;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  SELECT l.owner, l.mode, l.ends, l.fence INTO held FROM latchkey.lock l
    WHERE l.name = its_name ORDER BY l.ends DESC LIMIT 1;
  IF FOUND AND (held.owner <> its_owner OR held.mode <> its_mode) THEN
    RETURN 'b ' || latchkey.left_ms(held.ends, moment) || ' ' || held.owner;
  END IF;
  IF FOUND THEN
    token := held.fence;
    IF tokens > 0 AND token = 0 THEN
      token := latchkey.reserve(its_name, tokens);
    END IF;
    UPDATE latchkey.lock l SET ends = greatest(l.ends, latchkey.later(moment, lease)),
      fence = token, note = coalesce(its_note, l.note)
      WHERE l.name = its_name AND l.owner = its_owner;
    RETURN 'g ' || token;
  END IF;
  IF tokens > 0 THEN
    token := latchkey.reserve(its_name, tokens);
  END IF;
  INSERT INTO latchkey.lock VALUES (its_name, its_owner, its_mode,
    moment + lease * interval '1 millisecond', token, its_note);
  RETURN 'g ' || token;
END $$;

CREATE OR REPLACE FUNCTION latchkey.acquire_anywhere(
  its_name text, its_owner text, its_mode text, lease bigint, tokens integer, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.acquire(its_name, its_owner, its_mode, lease, tokens, its_note);
END $$;

-- A WRITE that waits for READs keeps new ones out for `wait` ms.
CREATE OR REPLACE FUNCTION latchkey.acquire_write(
  its_name text, its_owner text, lease bigint, wait bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  reply pg_catalog.text;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.acquire_write_anywhere(its_name, its_owner, lease, wait, its_note);
  END IF;
  moment := latchkey.enter(its_name);
  reply := latchkey.acquire(its_name, its_owner, 'w', lease, 0, its_note);
  IF starts_with(reply, 'g') THEN
    DELETE FROM latchkey.place p WHERE p.name = its_name AND p.arrival = 0;
  ELSIF wait > 0 AND EXISTS (SELECT FROM latchkey.lock l WHERE l.name = its_name AND l.mode = 'r') THEN
    INSERT INTO latchkey.place AS p
      VALUES (its_name, its_owner, 0, latchkey.later(moment, wait), pg_backend_pid())
      ON CONFLICT (name, owner) DO UPDATE SET until = greatest(p.until, excluded.until);
  END IF;
  RETURN reply;
END $$;

CREATE OR REPLACE FUNCTION latchkey.acquire_write_anywhere(
  its_name text, its_owner text, lease bigint, wait bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.acquire_write(its_name, its_owner, lease, wait, its_note);
END $$;

CREATE OR REPLACE FUNCTION latchkey.acquire_read(
  its_name text, its_owner text, lease bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  held record;
  writer record;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.acquire_read_anywhere(its_name, its_owner, lease, its_note);
  END IF;
  moment := latchkey.enter(its_name);
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  SELECT l.owner, l.ends INTO held FROM latchkey.lock l
    WHERE l.name = its_name AND l.mode <> 'r' ORDER BY l.owner LIMIT 1;
  IF FOUND THEN
    RETURN 'b ' || latchkey.left_ms(held.ends, moment) || ' ' || held.owner;
  END IF;
  UPDATE latchkey.lock l SET ends = greatest(l.ends, latchkey.later(moment, lease)),
    note = coalesce(its_note, l.note) WHERE l.name = its_name AND l.owner = its_owner;
  IF FOUND THEN
    RETURN 'g 0';
  END IF;
  SELECT p.owner, p.until INTO writer FROM latchkey.place p
    WHERE p.name = its_name AND p.arrival = 0 AND p.until > moment ORDER BY p.until DESC LIMIT 1;
  IF FOUND THEN
    RETURN 'b ' || latchkey.left_ms(writer.until, moment) || ' ';
  END IF;
  INSERT INTO latchkey.lock VALUES (its_name, its_owner, 'r', latchkey.later(moment, lease), 0, its_note);
  RETURN 'g 0';
END $$;

CREATE OR REPLACE FUNCTION latchkey.acquire_read_anywhere(
  its_name text, its_owner text, lease bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.acquire_read(its_name, its_owner, lease, its_note);
END $$;

-- `wait`: how long a place in the queue lasts unless the call is repeated, ms; 0: take no place.
-- Waiters call again in time: the first two every second, the others every 2 s.
CREATE OR REPLACE FUNCTION latchkey.acquire_fair(
  its_name text, its_owner text, lease bigint, wait bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  held record;
  is_held boolean;
  head record;
  has_head boolean;
  dropped integer;
  before bigint;
  ms bigint;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.acquire_fair_anywhere(its_name, its_owner, lease, wait, its_note);
  END IF;
  moment := latchkey.enter(its_name);
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  SELECT l.owner, l.mode, l.ends INTO held FROM latchkey.lock l
    WHERE l.name = its_name ORDER BY l.ends DESC LIMIT 1;
  is_held := FOUND;
  IF is_held AND held.owner = its_owner AND held.mode = 'x' THEN
    RETURN latchkey.acquire(its_name, its_owner, 'x', lease, 0, its_note);
  END IF;
  IF is_held AND held.mode = 's' THEN
    RETURN 'b 1 *';
  END IF;
  DELETE FROM latchkey.place p WHERE p.name = its_name AND p.until <= moment;
  GET DIAGNOSTICS dropped = ROW_COUNT;
  SELECT p.owner, p.until INTO head FROM latchkey.place p
    WHERE p.name = its_name AND p.arrival > 0 AND latchkey.runs(p.session)
    ORDER BY p.arrival LIMIT 1;
  has_head := FOUND;
  IF NOT is_held AND (NOT has_head OR head.owner = its_owner) THEN
    DELETE FROM latchkey.place p WHERE p.name = its_name AND p.owner = its_owner;
    INSERT INTO latchkey.lock
      VALUES (its_name, its_owner, 'x', latchkey.later(moment, lease), 0, its_note);
    IF has_head AND lease < 5000 THEN -- the next call of the new head would come too late
      PERFORM latchkey.notify_head(its_name);
    END IF;
    RETURN 'g 0';
  END IF;
  IF NOT is_held THEN -- the head has 5 s to take it
    head.until := least(head.until, latchkey.later(moment, 5000));
    UPDATE latchkey.place p SET until = head.until
      WHERE p.name = its_name AND p.owner = head.owner AND p.until > head.until;
    IF dropped > 0 THEN
      PERFORM latchkey.notify_head(its_name);
    END IF;
  END IF;
  IF wait > 0 THEN
    INSERT INTO latchkey.place
      VALUES (its_name, its_owner, nextval('latchkey.arrival'), latchkey.later(moment, wait),
        pg_backend_pid())
      ON CONFLICT (name, owner) DO UPDATE SET until = excluded.until, session = excluded.session;
    SELECT count(*) INTO before FROM latchkey.place p WHERE p.name = its_name AND p.arrival > 0
      AND latchkey.runs(p.session) AND p.arrival < (SELECT o.arrival FROM latchkey.place o
        WHERE o.name = its_name AND o.owner = its_owner);
  END IF;
  IF NOT is_held THEN
    ms := latchkey.left_ms(head.until, moment);
  ELSE
    ms := latchkey.left_ms(held.ends, moment);
    IF wait <= 0 AND has_head THEN
      ms := greatest(ms, latchkey.left_ms(head.until, moment));
    ELSIF before = 1 THEN
      ms := ms + 100; -- the first waiter asks first
    END IF;
  END IF;
  IF wait > 0 THEN
    ms := CASE WHEN before > 1 THEN 2000 ELSE least(ms, 1000) END;
  END IF;
  RETURN 'b ' || ms || ' ' || CASE WHEN is_held THEN held.owner ELSE '' END;
END $$;

CREATE OR REPLACE FUNCTION latchkey.acquire_fair_anywhere(
  its_name text, its_owner text, lease bigint, wait bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.acquire_fair(its_name, its_owner, lease, wait, its_note);
END $$;

CREATE OR REPLACE FUNCTION latchkey.notify_head(its_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT latchkey.may_notify() THEN
    RETURN;
  END IF;
  PERFORM pg_notify(w.channel, w.owner || ' ' || its_name) FROM latchkey.waiter w
    WHERE w.name = its_name AND w.owner = (SELECT p.owner FROM latchkey.place p
      WHERE p.name = its_name AND p.arrival > 0 AND latchkey.runs(p.session)
      ORDER BY p.arrival LIMIT 1);
END $$;

-- All or none. A busy member undoes those before it: 'b <ms> <member> <holder>'.
CREATE OR REPLACE FUNCTION latchkey.acquire_all(
  modes text[], names text[], owners text[], lease bigint, tokens integer)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  reply text;
  fenced_names text[] := '{}';
  fenced_owners text[] := '{}';
BEGIN
  FOR reply IN SELECT DISTINCT n COLLATE "C" AS each FROM unnest(names) n ORDER BY each LOOP
    PERFORM latchkey.enter(reply);
  END LOOP;
  FOR member IN 1..cardinality(names) LOOP
    reply := CASE modes[member]
      WHEN 'r' THEN latchkey.acquire_read(names[member], owners[member], lease, NULL)
      WHEN 'w' THEN latchkey.acquire_write(names[member], owners[member], lease, 0, NULL)
      ELSE latchkey.acquire(names[member], owners[member], 'x', lease, 0, NULL) END;
    IF starts_with(reply, 'b') THEN
      RAISE EXCEPTION USING ERRCODE = 'LK001', MESSAGE = regexp_replace(reply, '^(b \d+) ',
        '\1 ' || member - 1 || ' ');
    END IF;
    IF modes[member] = 'f' THEN
      fenced_names := fenced_names || names[member];
      fenced_owners := fenced_owners || owners[member];
    END IF;
  END LOOP;
  RETURN latchkey.give_tokens(fenced_names, fenced_owners, tokens);
EXCEPTION WHEN SQLSTATE 'LK001' THEN
  RETURN SQLERRM;
END $$;

-- These return whether the owner held it. They need no mutex: each changes the row of one hold, and
-- looks at `ends` once more if it had to wait for a transaction that deletes that row.
CREATE OR REPLACE FUNCTION latchkey.renew(
  its_name text, its_owner text, its_mode text, lease bigint, its_note text)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz := pg_catalog.clock_timestamp();
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.renew_anywhere(its_name, its_owner, its_mode, lease, its_note);
  END IF;
  UPDATE latchkey.lock l SET ends = greatest(l.ends, latchkey.later(moment, lease)),
    note = coalesce(its_note, l.note)
    WHERE l.name = its_name AND l.owner = its_owner AND l.mode = its_mode
      AND l.ends > clock_timestamp();
  RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION latchkey.renew_anywhere(
  its_name text, its_owner text, its_mode text, lease bigint, its_note text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.renew(its_name, its_owner, its_mode, lease, its_note);
END $$;

CREATE OR REPLACE FUNCTION latchkey.verify(its_name text, its_owner text, its_mode text)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.verify_anywhere(its_name, its_owner, its_mode);
  END IF;
  RETURN EXISTS (SELECT FROM latchkey.lock l WHERE l.name = its_name AND l.owner = its_owner
    AND l.mode = its_mode AND l.ends > clock_timestamp());
END $$;

CREATE OR REPLACE FUNCTION latchkey.verify_anywhere(its_name text, its_owner text, its_mode text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.verify(its_name, its_owner, its_mode);
END $$;

CREATE OR REPLACE FUNCTION latchkey.expire(
  its_name text, its_owner text, its_mode text, lease bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  UPDATE latchkey.lock l SET ends = least(l.ends, latchkey.later(moment, lease))
    WHERE l.name = its_name AND l.owner = its_owner AND l.mode = its_mode AND l.ends > clock_timestamp();
  RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION latchkey.downgrade(
  its_name text, its_owner text, lease bigint, its_note text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter_briefly(its_name);
BEGIN
  UPDATE latchkey.lock l SET mode = 'r', ends = greatest(l.ends, latchkey.later(moment, lease)),
    note = coalesce(its_note, l.note)
    WHERE l.name = its_name AND l.owner = its_owner AND l.mode <> 'x' AND l.ends > moment;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM latchkey.notify_waiters(its_name, moment);
  RETURN true;
END $$;

-- How many processes were notified; -1: this owner did not hold it.
CREATE OR REPLACE FUNCTION latchkey.release(its_name text, its_owner text, its_mode text)
RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  ended pg_catalog.timestamptz;
  awaited boolean;
  notified integer := 0;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.release_anywhere(its_name, its_owner, its_mode);
  END IF;
  moment := CASE WHEN pg_try_advisory_xact_lock(hashtextextended(its_name, 7809644666444609893))
    THEN clock_timestamp() ELSE latchkey.enter_briefly(its_name) END;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.owner = its_owner AND l.mode = its_mode
    RETURNING l.ends, EXISTS (SELECT FROM latchkey.waiter w WHERE w.name = its_name)
    INTO ended, awaited;
  IF NOT FOUND THEN
    RETURN -1;
  END IF;
  IF awaited AND NOT (its_mode = 'r' AND
      EXISTS (SELECT FROM latchkey.lock l WHERE l.name = its_name AND l.ends > moment)) THEN
    notified := latchkey.notify_waiters(its_name, moment);
  END IF;
  RETURN CASE WHEN ended > moment THEN notified ELSE -1 END;
END $$;

CREATE OR REPLACE FUNCTION latchkey.release_anywhere(its_name text, its_owner text, its_mode text)
RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.release(its_name, its_owner, its_mode);
END $$;

-- Undoes an acquire, whatever its result was. The leave of a WRITE releases the READ as well that a
-- downgrade has made of it.
CREATE OR REPLACE FUNCTION latchkey.leave(its_name text, its_owner text, its_mode text)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  moment pg_catalog.timestamptz;
  ended pg_catalog.timestamptz;
  place bigint;
  held boolean;
  first boolean := false;
BEGIN
  IF NOT latchkey.is_safe() THEN
    RETURN latchkey.leave_anywhere(its_name, its_owner, its_mode);
  END IF;
  moment := latchkey.enter_briefly(its_name);
  SELECT p.arrival, NOT EXISTS (SELECT FROM latchkey.place o WHERE o.name = its_name
      AND o.arrival > 0 AND o.arrival < p.arrival AND latchkey.runs(o.session)) INTO place, first
    FROM latchkey.place p WHERE p.name = its_name AND p.owner = its_owner;
  IF FOUND THEN
    DELETE FROM latchkey.place p WHERE p.name = its_name AND p.owner = its_owner;
  END IF;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.owner = its_owner
    AND (l.mode = its_mode OR (its_mode = 'w' AND l.mode = 'r')) RETURNING l.ends INTO ended;
  held := FOUND AND ended > moment;
  IF ended IS NOT NULL OR (place IS NOT NULL AND first) THEN
    IF NOT EXISTS (SELECT FROM latchkey.lock l
        WHERE l.name = its_name AND l.ends > latchkey.later(moment, 5000)) OR place = 0 THEN
      PERFORM latchkey.notify_waiters(its_name, moment);
    END IF;
  END IF;
  RETURN held OR coalesce(place > 0, false);
END $$;

CREATE OR REPLACE FUNCTION latchkey.leave_anywhere(its_name text, its_owner text, its_mode text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN latchkey.leave(its_name, its_owner, its_mode);
END $$;

CREATE OR REPLACE FUNCTION latchkey.force_release(its_name text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter(its_name);
  held integer;
BEGIN
  IF latchkey.permits_of(its_name) IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'LK002', MESSAGE = 'the key is a semaphore';
  END IF;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  DELETE FROM latchkey.lock l WHERE l.name = its_name;
  GET DIAGNOSTICS held = ROW_COUNT;
  IF held > 0 THEN
    PERFORM latchkey.notify_holders(its_name);
    PERFORM latchkey.notify_waiters(its_name, moment);
  END IF;
  RETURN held > 0;
END $$;

-- How many permits a semaphore has; NULL: there is no semaphore.
CREATE OR REPLACE FUNCTION latchkey.permits_of(its_name text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT l.fence FROM latchkey.lock l
    WHERE l.name = its_name AND l.owner = '*' AND l.mode = 's');
END $$;

-- Makes a semaphore that does not exist yet, after latchkey.enter. Returns how many permits it has;
-- NULL: the key is a lock.
CREATE OR REPLACE FUNCTION latchkey.make_semaphore(its_name text, moment timestamptz, total bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  permits bigint := latchkey.permits_of(its_name);
BEGIN
  IF permits IS NOT NULL THEN
    RETURN permits;
  END IF;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  IF EXISTS (SELECT FROM latchkey.lock l WHERE l.name = its_name) THEN
    RETURN NULL;
  END IF;
  INSERT INTO latchkey.lock VALUES (its_name, '*', 's', '9999-01-01 00:00:00+00', total, NULL);
  RETURN total;
END $$;

-- Takes permits of a semaphore, all or none. A semaphore that does not exist yet gets `total`. The
-- reply: 'g <available>' granted, 'b <ms> ' busy until the nearest lease ends, 'f <total>' there are
-- fewer, 'l' the key is a lock. A hold of permits is renewed, verified and released as any other one.
CREATE OR REPLACE FUNCTION latchkey.acquire_permits(
  its_name text, its_owner text, lease bigint, taken bigint, total bigint, its_note text)
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter(its_name);
  permits bigint := latchkey.make_semaphore(its_name, moment, total);
  held record;
  available bigint;
BEGIN
  IF permits IS NULL THEN
    RETURN 'l';
  END IF;
  DELETE FROM latchkey.lock l WHERE l.name = its_name AND l.ends <= moment;
  SELECT coalesce(sum(l.fence), 0) AS permits, min(l.ends) AS first_end,
      coalesce(bool_or(l.owner = its_owner), false) AS is_mine INTO held
    FROM latchkey.lock l WHERE l.name = its_name AND l.mode = 'p';
  available := permits - held.permits;
  IF held.is_mine THEN
    UPDATE latchkey.lock l SET ends = greatest(l.ends, latchkey.later(moment, lease)),
      note = coalesce(its_note, l.note) WHERE l.name = its_name AND l.owner = its_owner;
    RETURN 'g ' || greatest(available, 0);
  END IF;
  IF permits < taken THEN
    RETURN 'f ' || permits;
  END IF;
  IF available < taken THEN
    RETURN 'b ' || latchkey.left_ms(held.first_end, moment) || ' ';
  END IF;
  INSERT INTO latchkey.lock
    VALUES (its_name, its_owner, 'p', latchkey.later(moment, lease), taken, its_note);
  RETURN 'g ' || available - taken;
END $$;

-- Whether the key is a semaphore, which it becomes if it is free.
CREATE OR REPLACE FUNCTION latchkey.resize_permits(its_name text, total bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter(its_name);
  permits bigint := latchkey.make_semaphore(its_name, moment, total);
BEGIN
  IF permits <> total THEN
    UPDATE latchkey.lock l SET fence = total
      WHERE l.name = its_name AND l.owner = '*' AND l.mode = 's';
  END IF;
  IF permits < total THEN
    PERFORM latchkey.notify_waiters(its_name, moment);
  END IF;
  RETURN permits IS NOT NULL;
END $$;

-- Whether there was a semaphore; NULL: the key is a lock.
CREATE OR REPLACE FUNCTION latchkey.destroy_permits(its_name text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter(its_name);
BEGIN
  IF latchkey.permits_of(its_name) IS NULL THEN
    RETURN CASE WHEN NOT EXISTS (SELECT FROM latchkey.lock l
      WHERE l.name = its_name AND l.ends > moment) THEN false END;
  END IF;
  DELETE FROM latchkey.lock l WHERE l.name = its_name;
  PERFORM latchkey.notify_waiters(its_name, moment);
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION latchkey.subscribe(its_name text, its_channel text, its_owner text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := latchkey.enter_briefly(its_name);
BEGIN
  INSERT INTO latchkey.waiter
    VALUES (its_name, its_channel, its_owner, moment + interval '60 seconds', pg_backend_pid())
    ON CONFLICT (name, channel, owner)
      DO UPDATE SET until = excluded.until, session = excluded.session;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION latchkey.unsubscribe(its_name text, its_channel text, its_owner text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM latchkey.enter_briefly(its_name);
  DELETE FROM latchkey.waiter w
    WHERE w.name = its_name AND w.channel = its_channel AND w.owner = its_owner;
  RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION latchkey.subscribe_all(its_channel text, names text[], owners text[])
RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  each record;
BEGIN
  FOR each IN SELECT n COLLATE "C" AS name, o AS owner FROM unnest(names, owners) AS u(n, o)
      ORDER BY 1 LOOP
    PERFORM latchkey.subscribe(each.name, its_channel, each.owner);
  END LOOP;
  RETURN true;
END $$;

-- Every process calls this every few seconds: its subscriptions live on, and what has ended is
-- deleted, by one process every 5 s. Returns how many subscriptions it has. Waits for no row.
CREATE OR REPLACE FUNCTION latchkey.upkeep(its_channel text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  subscriptions bigint;
BEGIN
  UPDATE latchkey.waiter w SET until = moment + interval '60 seconds' WHERE w.channel = its_channel;
  GET DIAGNOSTICS subscriptions = ROW_COUNT;
  PERFORM FROM latchkey.sweep s
    WHERE s.due <= moment OR s.due > moment + interval '1 minute' -- the clock was set back
    FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE latchkey.sweep s SET due = moment + interval '5 seconds';
    DELETE FROM latchkey.lock WHERE ctid = ANY (ARRAY(SELECT l.ctid FROM latchkey.lock l
      WHERE l.ends <= moment ORDER BY l.ends LIMIT 5000 FOR UPDATE SKIP LOCKED));
    DELETE FROM latchkey.place WHERE ctid = ANY (ARRAY(SELECT p.ctid FROM latchkey.place p
      WHERE p.until <= moment ORDER BY p.until LIMIT 5000 FOR UPDATE SKIP LOCKED));
    DELETE FROM latchkey.waiter WHERE ctid = ANY (ARRAY(SELECT w.ctid FROM latchkey.waiter w
      WHERE w.until <= moment OR NOT latchkey.runs(w.session) LIMIT 5000 FOR UPDATE SKIP LOCKED));
  END IF;
  RETURN subscriptions;
END $$;

-- kind: h a holder or a semaphore, q a place in the queue, s the number of subscribers (in ms).
CREATE OR REPLACE FUNCTION latchkey.inspect(its_name text)
RETURNS TABLE (kind text, id text, its_mode text, ms bigint, token bigint, its_note text)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM (SELECT 'h', l.owner, l.mode, latchkey.left_ms(l.ends, clock_timestamp()), l.fence,
      l.note FROM latchkey.lock l WHERE l.name = its_name AND l.ends > clock_timestamp()
      ORDER BY l.owner) holders
  UNION ALL
  SELECT * FROM (SELECT 'q', p.owner, '', 0::bigint, 0::bigint, NULL FROM latchkey.place p
      WHERE p.name = its_name AND p.arrival > 0 AND p.until > clock_timestamp()
      ORDER BY p.arrival) places
  UNION ALL
  SELECT 's', '', '', greatest(count(*) FILTER (WHERE w.owner = ''),
      count(*) FILTER (WHERE w.owner <> '')), 0, NULL FROM latchkey.waiter w
      WHERE w.name = its_name AND w.until > clock_timestamp()
$$;

CREATE OR REPLACE FUNCTION latchkey.list(pattern text) RETURNS TABLE (its_name text, waiters bigint)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT l.name, 0::bigint FROM latchkey.lock l WHERE l.ends > clock_timestamp()
    AND l.mode <> 's' AND l.name ~ pattern ORDER BY 1
$$;

CREATE OR REPLACE FUNCTION latchkey.list_awaited(pattern text)
RETURNS TABLE (its_name text, waiters bigint)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT w.name, greatest(count(*) FILTER (WHERE w.owner = ''),
    count(*) FILTER (WHERE w.owner <> '')) FROM latchkey.waiter w
    WHERE w.until > clock_timestamp() AND w.name ~ pattern GROUP BY w.name ORDER BY 2 DESC, 1
$$;
COMMIT;
