-- The tables and procedures of latchkey's locks, version 1. Run it again to add what is missing.
--   latchkey ddl mysql | mysql <database>
--
-- A user of locks needs SELECT, INSERT, UPDATE and DELETE on the tables, and EXECUTE. The procedures
-- have its rights, not those of whoever created them: a session that runs with the rights of another
-- user cannot be ended by its own, which latchkey does after it has lost a connection.

-- A procedure runs with the sql_mode in which it was created.
SET SESSION sql_mode = 'STRICT_ALL_TABLES';

DELIMITER //

-- One row for each key that is held or waited for. Every procedure that changes a key locks its row
-- first, so two transactions never wait for each other. Times are µs since 1970, UTC.
--
-- mode     0: nobody, 1: REENTRANT, FAIR or FENCED, 2: WRITE, 3: READ, 4: the key is a semaphore
-- owner    who holds it; READ: empty, the readers are in latchkey_members; a semaphore: '*', which
--          keeps locks out
-- ends     when the lease ends; READ: the last one; a semaphore: never
-- fence    the last fencing token of this hold, 0: none; a semaphore: how many permits there are
-- kept     until when new READs are kept out, for a WRITE that waits
-- waiting  how many places the FAIR queue has
CREATE TABLE IF NOT EXISTS latchkey_locks (
  name VARBINARY(1024) NOT NULL,
  mode TINYINT UNSIGNED NOT NULL,
  owner VARBINARY(64) NOT NULL,
  ends BIGINT NOT NULL,
  fence BIGINT UNSIGNED NOT NULL DEFAULT 0,
  kept BIGINT NOT NULL DEFAULT 0,
  waiting INT NOT NULL DEFAULT 0,
  PRIMARY KEY (name)
) ENGINE = InnoDB
//

-- The readers of a key, the places in its FAIR queue, and the holds of a semaphore.
--
-- kind   3: a reader, 4: a place, 6: a hold of permits
-- ends   when the lease, or the place, ends
-- place  the order of the queue; how many permits the hold has
CREATE TABLE IF NOT EXISTS latchkey_members (
  name VARBINARY(1024) NOT NULL,
  kind TINYINT UNSIGNED NOT NULL,
  owner VARBINARY(64) NOT NULL,
  ends BIGINT NOT NULL,
  place BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (name, kind, owner)
) ENGINE = InnoDB
//

-- The last fencing token of each key that ever had one. These rows stay.
CREATE TABLE IF NOT EXISTS latchkey_fences (
  name VARBINARY(1024) NOT NULL,
  fence BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB
//

-- Reserves fencing tokens and returns the last one. A token is the larger of the last one's successor
-- and the server's clock, so tokens rise even if the row is deleted. The caller has locked the key's
-- row in latchkey_locks.
CREATE PROCEDURE IF NOT EXISTS latchkey_next_fence (
  IN p_name VARBINARY(1024), IN p_tokens INT UNSIGNED, IN p_now BIGINT, OUT p_fence BIGINT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  INSERT INTO latchkey_fences (name, fence) VALUES (p_name, p_now)
    ON DUPLICATE KEY UPDATE fence = GREATEST(fence + p_tokens, p_now);
  SELECT fence INTO p_fence FROM latchkey_fences WHERE name = p_name FOR UPDATE;
END
//

-- Writes the state of a key whose row the caller has locked, and deletes a row that says nothing.
CREATE PROCEDURE IF NOT EXISTS latchkey_settle (
  IN p_name VARBINARY(1024), IN p_mode TINYINT UNSIGNED, IN p_owner VARBINARY(64), IN p_ends BIGINT,
  IN p_fence BIGINT UNSIGNED, IN p_kept BIGINT, IN p_waiting INT, IN p_now BIGINT)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  IF p_mode = 0 AND p_waiting = 0 AND p_kept <= p_now THEN
    DELETE FROM latchkey_locks WHERE name = p_name;
  ELSE
    UPDATE latchkey_locks
      SET mode = p_mode, owner = p_owner, ends = p_ends, fence = p_fence, kept = p_kept,
          waiting = p_waiting
      WHERE name = p_name;
  END IF;
END
//

-- Locks the row of a key and reads it, without what has ended: leases, and places in the queue.
-- p_mode is NULL if there is no row.
CREATE PROCEDURE IF NOT EXISTS latchkey_look (
  IN p_name VARBINARY(1024), IN p_now BIGINT, OUT p_mode TINYINT UNSIGNED, OUT p_owner VARBINARY(64),
  OUT p_ends BIGINT, OUT p_fence BIGINT UNSIGNED, OUT p_kept BIGINT, OUT p_waiting INT)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET p_mode = NULL;
  SELECT mode, owner, ends, fence, kept, waiting
    INTO p_mode, p_owner, p_ends, p_fence, p_kept, p_waiting
    FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF p_mode = 3 THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 3 AND ends <= p_now;
    SELECT COALESCE(MAX(ends), 0) INTO p_ends
      FROM latchkey_members WHERE name = p_name AND kind = 3;
  END IF;
  IF p_mode > 0 AND p_ends <= p_now THEN
    SET p_mode = 0, p_owner = '', p_ends = 0, p_fence = 0;
  END IF;
  IF p_waiting > 0 THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 4 AND ends <= p_now;
    SET p_waiting = p_waiting - ROW_COUNT();
  END IF;
END
//

-- Takes a lock, or returns the holder and how long it may still hold.
--
-- p_type   0: REENTRANT, 1: FAIR, 2: READ, 3: WRITE, 4: FENCED
-- p_lease  µs
-- p_wait   FAIR: how long the place in the queue lasts, µs; 0: take no place. WRITE: for how long to
--          keep new READs out
-- p_tokens FENCED: how many to reserve
--
-- Returns one row: result 0: granted, 1: busy; fence; left µs; holder; place in the queue, from 0
--
-- Idempotent: there is no count, because the holder repeats the call if the reply was lost. The lease
-- starts anew and never ends earlier than before. A place in the queue lasts 5 s at most, because its
-- owner calls again twice a second.
CREATE PROCEDURE IF NOT EXISTS latchkey_acquire (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64),
  IN p_lease BIGINT, IN p_wait BIGINT, IN p_tokens INT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
l: BEGIN
  DECLARE v_now, v_left, v_place BIGINT DEFAULT 0;
  DECLARE v_fence, v_own_fence BIGINT UNSIGNED DEFAULT 0;
  DECLARE v_wanted TINYINT UNSIGNED DEFAULT CASE p_type WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE 1 END;
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_owner, v_head VARBINARY(64);
  DECLARE v_ends, v_kept BIGINT;
  DECLARE v_waiting INT;
  DECLARE v_mine, v_free BOOLEAN;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));

  -- A free key has no row. An existing row is locked and stays as it is.
  INSERT INTO latchkey_locks (name, mode, owner, ends)
    VALUES (p_name, v_wanted, IF(v_wanted = 3, '', p_owner), v_now + p_lease)
    ON DUPLICATE KEY UPDATE name = latchkey_locks.name;
  IF ROW_COUNT() = 1 THEN
    IF v_wanted = 3 THEN
      INSERT INTO latchkey_members (name, kind, owner, ends)
        VALUES (p_name, 3, p_owner, v_now + p_lease);
    ELSEIF p_type = 4 THEN
      CALL latchkey_next_fence(p_name, p_tokens, v_now, v_fence);
      UPDATE latchkey_locks SET fence = v_fence WHERE name = p_name;
    END IF;
    SELECT 0 AS result, v_fence AS fence, 0 AS time_left, '' AS holder, 0 AS place;
    LEAVE l;
  END IF;

  CALL latchkey_look(p_name, v_now, v_mode, v_owner, v_ends, v_own_fence, v_kept, v_waiting);
  IF v_mode <> v_wanted THEN
    SET v_mine = FALSE;
  ELSEIF v_wanted = 3 THEN
    SET v_mine = EXISTS (
      SELECT 1 FROM latchkey_members WHERE name = p_name AND kind = 3 AND owner = p_owner);
  ELSE
    SET v_mine = v_owner = p_owner;
  END IF;
  SET v_free = v_mine OR v_mode = 0 OR (v_mode = 3 AND v_wanted = 3);

  IF v_free AND NOT v_mine AND v_wanted = 3 AND v_kept > v_now THEN
    SET v_free = FALSE, v_left = v_kept - v_now;
  ELSEIF v_mode > 0 THEN
    SET v_left = v_ends - v_now;
  END IF;
  IF p_type = 1 AND NOT v_mine AND v_waiting > 0 THEN
    SET v_head = (SELECT owner FROM latchkey_members WHERE name = p_name AND kind = 4
                  ORDER BY place LIMIT 1);
    SET v_free = v_free AND v_head = p_owner;
    IF v_free THEN
      DELETE FROM latchkey_members WHERE name = p_name AND kind = 4 AND owner = p_owner;
      SET v_waiting = v_waiting - 1;
    END IF;
  END IF;

  IF v_free THEN
    IF v_wanted = 3 THEN
      INSERT INTO latchkey_members (name, kind, owner, ends)
        VALUES (p_name, 3, p_owner, v_now + p_lease)
        ON DUPLICATE KEY UPDATE ends = GREATEST(ends, v_now + p_lease);
    ELSEIF v_wanted = 2 THEN
      SET v_kept = 0;
    END IF;
    SET v_fence = IF(v_mine, v_own_fence, 0);
    IF p_type = 4 AND v_fence = 0 THEN
      CALL latchkey_next_fence(p_name, p_tokens, v_now, v_fence);
    END IF;
    CALL latchkey_settle(p_name, v_wanted, IF(v_wanted = 3, '', p_owner),
                         GREATEST(v_ends, v_now + p_lease), v_fence, v_kept, v_waiting, v_now);
    SELECT 0 AS result, v_fence AS fence, 0 AS time_left, '' AS holder, 0 AS place;
    LEAVE l;
  END IF;

  IF p_type = 1 AND p_wait > 0 THEN
    SET v_place = (SELECT COALESCE(MAX(place), 0) + 1 FROM latchkey_members
                   WHERE name = p_name AND kind = 4);
    INSERT INTO latchkey_members (name, kind, owner, ends, place)
      VALUES (p_name, 4, p_owner, v_now + LEAST(p_wait, 5000000), v_place)
      ON DUPLICATE KEY UPDATE ends = v_now + LEAST(p_wait, 5000000);
    IF ROW_COUNT() = 1 THEN
      SET v_waiting = v_waiting + 1, v_place = v_waiting - 1;
    ELSE
      SET v_place = (SELECT COUNT(*) FROM latchkey_members AS ahead
                     JOIN latchkey_members AS mine
                       ON mine.name = p_name AND mine.kind = 4 AND mine.owner = p_owner
                     WHERE ahead.name = p_name AND ahead.kind = 4 AND ahead.place < mine.place);
    END IF;
  ELSEIF v_wanted = 2 AND v_mode = 3 AND p_wait > 0 THEN
    SET v_kept = GREATEST(v_kept, v_now + p_wait);
  END IF;
  CALL latchkey_settle(p_name, v_mode, v_owner, v_ends, v_own_fence, v_kept, v_waiting, v_now);
  IF v_mode = 3 THEN
    SET v_owner = (SELECT owner FROM latchkey_members WHERE name = p_name AND kind = 3 LIMIT 1);
  END IF;
  SELECT 1 AS result, 0 AS fence, v_left AS time_left, v_owner AS holder, v_place AS place;
END
//

-- Gives a hold a fencing token, unless it has one: the holder repeats the call if the reply was lost. For
-- WRITE and FAIR, in the transaction of latchkey_acquire. Returns the last of p_tokens; 0: this owner
-- does not hold the key.
CREATE PROCEDURE IF NOT EXISTS latchkey_give_token (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64),
  IN p_tokens INT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_fence BIGINT UNSIGNED;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SELECT fence INTO v_fence FROM latchkey_locks
    WHERE name = p_name AND mode = IF(p_type = 3, 2, 1) AND owner = p_owner FOR UPDATE;
  IF v_fence = 0 THEN
    CALL latchkey_next_fence(p_name, p_tokens,
                             TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), v_fence);
    UPDATE latchkey_locks SET fence = v_fence WHERE name = p_name;
  END IF;
  SELECT COALESCE(v_fence, 0) AS fence;
END
//

-- Extends the lease of a hold; p_type as in latchkey_acquire. Returns result 0: the lease lasts at
-- least p_lease from now, 2: this owner holds it no more.
CREATE PROCEDURE IF NOT EXISTS latchkey_renew (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64), IN p_lease BIGINT)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_own BIGINT;
  DECLARE v_held BOOLEAN DEFAULT FALSE;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT IF(p_type = 2, mode = 3, mode = IF(p_type = 3, 2, 1) AND owner = p_owner AND ends > v_now)
    INTO v_held FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF v_held AND p_type = 2 THEN
    SELECT ends INTO v_own FROM latchkey_members
      WHERE name = p_name AND kind = 3 AND owner = p_owner;
    SET v_held = COALESCE(v_own > v_now, FALSE);
    IF v_held AND v_own < v_now + p_lease THEN
      UPDATE latchkey_members SET ends = v_now + p_lease
        WHERE name = p_name AND kind = 3 AND owner = p_owner;
    END IF;
  END IF;
  IF v_held THEN
    UPDATE latchkey_locks SET ends = GREATEST(ends, v_now + p_lease) WHERE name = p_name;
  END IF;
  SELECT IF(v_held, 0, 2) AS result;
END
//

-- Checks whether an owner still holds a key; changes nothing. Returns result as latchkey_renew.
CREATE PROCEDURE IF NOT EXISTS latchkey_verify (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64))
READS SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  IF p_type = 2 THEN
    SELECT IF(EXISTS (
      SELECT 1 FROM latchkey_members
        WHERE name = p_name AND kind = 3 AND owner = p_owner AND ends > v_now), 0, 2) AS result;
  ELSE
    SELECT IF(EXISTS (
      SELECT 1 FROM latchkey_locks
        WHERE name = p_name AND mode = IF(p_type = 3, 2, 1) AND owner = p_owner AND ends > v_now),
      0, 2) AS result;
  END IF;
END
//

-- Lets a hold end earlier than its lease. Returns result as latchkey_renew.
CREATE PROCEDURE IF NOT EXISTS latchkey_expire (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64), IN p_lease BIGINT)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT;
  DECLARE v_held BOOLEAN DEFAULT FALSE;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT IF(p_type = 2, mode = 3, mode = IF(p_type = 3, 2, 1) AND owner = p_owner AND ends > v_now)
    INTO v_held FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF v_held AND p_type = 2 THEN
    SET v_held = EXISTS (
      SELECT 1 FROM latchkey_members
        WHERE name = p_name AND kind = 3 AND owner = p_owner AND ends > v_now);
    UPDATE latchkey_members SET ends = LEAST(ends, v_now + p_lease)
      WHERE name = p_name AND kind = 3 AND owner = p_owner;
    UPDATE latchkey_locks
      SET ends = (SELECT COALESCE(MAX(ends), 0) FROM latchkey_members
                  WHERE name = p_name AND kind = 3)
      WHERE name = p_name;
  ELSEIF v_held THEN
    UPDATE latchkey_locks SET ends = LEAST(ends, v_now + p_lease) WHERE name = p_name;
  END IF;
  SELECT IF(v_held, 0, 2) AS result;
END
//

-- Turns a WRITE into a READ of the same owner; repeated, it finds the READ. Returns result as
-- latchkey_renew.
CREATE PROCEDURE IF NOT EXISTS latchkey_downgrade (
  IN p_name VARBINARY(1024), IN p_owner VARBINARY(64), IN p_lease BIGINT)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_ends, v_own BIGINT;
  DECLARE v_mode TINYINT UNSIGNED DEFAULT 0;
  DECLARE v_owner VARBINARY(64);
  DECLARE v_held BOOLEAN DEFAULT FALSE;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT mode, owner, ends INTO v_mode, v_owner, v_ends
    FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF v_mode = 2 AND v_owner = p_owner THEN
    SET v_held = v_ends > v_now;
  ELSEIF v_mode = 3 THEN
    SELECT ends INTO v_own FROM latchkey_members
      WHERE name = p_name AND kind = 3 AND owner = p_owner;
    SET v_held = COALESCE(v_own > v_now, FALSE);
  END IF;
  IF v_held THEN
    INSERT INTO latchkey_members (name, kind, owner, ends)
      VALUES (p_name, 3, p_owner, GREATEST(IF(v_mode = 2, v_ends, v_own), v_now + p_lease))
      ON DUPLICATE KEY UPDATE ends = GREATEST(ends, v_now + p_lease);
    UPDATE latchkey_locks SET mode = 3, owner = '', ends = GREATEST(ends, v_now + p_lease)
      WHERE name = p_name;
  END IF;
  SELECT IF(v_held, 0, 2) AS result;
END
//

-- Ends a hold. p_leave: also a place in the queue, and the READ that a WRITE has become. Returns
-- result 0: the owner had it and has it no more, 2: it had nothing.
CREATE PROCEDURE IF NOT EXISTS latchkey_release (
  IN p_name VARBINARY(1024), IN p_type TINYINT UNSIGNED, IN p_owner VARBINARY(64),
  IN p_leave BOOLEAN)
MODIFIES SQL DATA
SQL SECURITY INVOKER
l: BEGIN
  DECLARE v_now BIGINT;
  DECLARE v_fence BIGINT UNSIGNED;
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_owner VARBINARY(64);
  DECLARE v_ends, v_kept BIGINT;
  DECLARE v_waiting INT;
  DECLARE v_had BOOLEAN DEFAULT FALSE;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));

  IF p_type <> 2 THEN
    DELETE FROM latchkey_locks
      WHERE name = p_name AND mode = IF(p_type = 3, 2, 1) AND owner = p_owner AND ends > v_now
        AND kept <= v_now AND waiting = 0;
    IF ROW_COUNT() = 1 THEN
      SELECT 0 AS result;
      LEAVE l;
    END IF;
  END IF;

  CALL latchkey_look(p_name, v_now, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting);
  IF v_mode IS NULL THEN
    SELECT 2 AS result;
    LEAVE l;
  END IF;
  IF p_leave AND p_type = 1 THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 4 AND owner = p_owner;
    IF ROW_COUNT() = 1 THEN
      SET v_waiting = v_waiting - 1, v_had = TRUE;
    END IF;
  END IF;
  IF v_mode = 3 AND (p_type = 2 OR (p_type = 3 AND p_leave)) THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 3 AND owner = p_owner;
    IF ROW_COUNT() = 1 THEN
      SET v_had = TRUE;
      SELECT COALESCE(MAX(ends), 0) INTO v_ends
        FROM latchkey_members WHERE name = p_name AND kind = 3;
      IF v_ends = 0 THEN
        SET v_mode = 0;
      END IF;
    END IF;
  ELSEIF v_mode = CASE p_type WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE 1 END AND v_owner = p_owner THEN
    SET v_had = TRUE, v_mode = 0, v_owner = '', v_ends = 0, v_fence = 0;
  END IF;
  CALL latchkey_settle(p_name, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting, v_now);
  SELECT IF(v_had, 0, 2) AS result;
END
//

-- Ends every hold of a key. Returns result 0: it was held, 2: it was not, 4: it is a semaphore.
DROP PROCEDURE IF EXISTS latchkey_force_release
//

CREATE PROCEDURE IF NOT EXISTS latchkey_force_release (IN p_name VARBINARY(1024))
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_ends, v_kept BIGINT;
  DECLARE v_fence BIGINT UNSIGNED;
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_owner VARBINARY(64);
  DECLARE v_waiting INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  CALL latchkey_look(p_name, v_now, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting);
  IF v_mode = 3 THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 3;
  END IF;
  IF v_mode <> 4 THEN
    CALL latchkey_settle(p_name, 0, '', 0, 0, v_kept, v_waiting, v_now);
  END IF;
  SELECT CASE COALESCE(v_mode, 0) WHEN 0 THEN 2 WHEN 4 THEN 4 ELSE 0 END AS result;
END
//

-- Describes a key; changes nothing. Returns a row for each holder (what = its mode), for each place
-- in the queue (4), for the last fencing token (5), for each hold of permits (6), and for a semaphore
-- (7).
DROP PROCEDURE IF EXISTS latchkey_inspect
//

CREATE PROCEDURE IF NOT EXISTS latchkey_inspect (IN p_name VARBINARY(1024))
READS SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT mode AS what, owner, ends - v_now AS time_left, 0 AS number FROM latchkey_locks
    WHERE name = p_name AND mode IN (1, 2) AND ends > v_now
  UNION ALL
  SELECT kind, owner, ends - v_now, place FROM latchkey_members
    WHERE name = p_name AND ends > v_now
  UNION ALL
  SELECT 5, '', 0, fence FROM latchkey_fences WHERE name = p_name
  UNION ALL
  SELECT 7, '', 0, fence FROM latchkey_locks WHERE name = p_name AND mode = 4
  ORDER BY what, number;
END
//

-- Lists the keys that begin with p_prefix and are held: p_count rows after the first p_skip, which a
-- release between two such calls moves. Returns a row for each key with a row in the table: name,
-- whether it is held.
DROP PROCEDURE IF EXISTS latchkey_list
//

CREATE PROCEDURE IF NOT EXISTS latchkey_list (
  IN p_prefix VARBINARY(1024), IN p_skip BIGINT UNSIGNED, IN p_count BIGINT UNSIGNED)
READS SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT name, IF(mode = 4, EXISTS (
      SELECT 1 FROM latchkey_members AS m
        WHERE m.name = latchkey_locks.name AND m.kind = 6 AND m.ends > v_now),
      mode > 0 AND ends > v_now) AS held FROM latchkey_locks
    WHERE name >= p_prefix AND LEFT(name, LENGTH(p_prefix)) = p_prefix
    ORDER BY name LIMIT p_skip, p_count;
END
//

-- Removes what killed processes have left behind from the next p_count rows after p_after. Returns
-- the name of the last row examined, or an empty one if there are no more. Rows that are in use are
-- passed over.
CREATE PROCEDURE IF NOT EXISTS latchkey_sweep (IN p_after VARBINARY(1024), IN p_count INT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_ends, v_kept BIGINT;
  DECLARE v_fence BIGINT UNSIGNED;
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_waiting, v_examined INT DEFAULT 0;
  DECLARE v_name, v_last VARBINARY(1024) DEFAULT '';
  DECLARE v_owner VARBINARY(64);
  DECLARE v_over BOOLEAN DEFAULT FALSE;
  DECLARE c CURSOR FOR
    SELECT name, mode, ends, waiting FROM latchkey_locks
      WHERE name > p_after ORDER BY name LIMIT p_count;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_over = TRUE;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  OPEN c;
  r: LOOP
    FETCH c INTO v_name, v_mode, v_ends, v_waiting;
    IF v_over THEN LEAVE r; END IF;
    SET v_examined = v_examined + 1, v_last = v_name;
    IF v_waiting > 0 OR v_mode = 0 OR v_ends <= v_now THEN
      SET v_mode = NULL;
      SELECT mode INTO v_mode FROM latchkey_locks WHERE name = v_name FOR UPDATE SKIP LOCKED;
      SET v_over = FALSE;
      IF v_mode IS NOT NULL THEN
        CALL latchkey_look(v_name, v_now, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting);
        CALL latchkey_settle(v_name, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting, v_now);
      END IF;
    END IF;
  END LOOP;
  CLOSE c;
  SELECT IF(v_examined < p_count, '', v_last) AS next_after;
END
//

-- Locks the row of a semaphore, which it makes with p_total permits if the key is free, and deletes
-- the holds that have ended. p_all: how many permits there are; NULL: the key is a lock.
CREATE PROCEDURE IF NOT EXISTS latchkey_enter_permits (
  IN p_name VARBINARY(1024), IN p_total BIGINT UNSIGNED, IN p_now BIGINT, OUT p_all BIGINT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
l: BEGIN
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_owner VARBINARY(64);
  DECLARE v_ends, v_kept BIGINT;
  DECLARE v_waiting INT;
  INSERT INTO latchkey_locks (name, mode, owner, ends, fence)
    VALUES (p_name, 4, '*', 9223372036854775807, p_total)
    ON DUPLICATE KEY UPDATE name = latchkey_locks.name;
  IF ROW_COUNT() = 1 THEN
    SET p_all = p_total;
  ELSE
    CALL latchkey_look(p_name, p_now, v_mode, v_owner, v_ends, p_all, v_kept, v_waiting);
    IF v_mode = 0 AND v_waiting = 0 AND v_kept <= p_now THEN
      SET p_all = p_total;
      UPDATE latchkey_locks
        SET mode = 4, owner = '*', ends = 9223372036854775807, fence = p_total, kept = 0, waiting = 0
        WHERE name = p_name;
    ELSEIF v_mode <> 4 THEN
      SET p_all = NULL;
      CALL latchkey_settle(p_name, v_mode, v_owner, v_ends, 0, v_kept, v_waiting, p_now);
      LEAVE l;
    END IF;
  END IF;
  DELETE FROM latchkey_members WHERE name = p_name AND kind = 6 AND ends <= p_now;
END
//

-- Takes permits of a semaphore, all or none. A semaphore that does not exist yet gets p_total.
--
-- Returns one row as latchkey_acquire; result 0: granted, 1: busy until the nearest lease ends, 3:
-- there are fewer permits, 4: the key is a lock; fence: how many are available, 3: how many there are.
--
-- Idempotent as latchkey_acquire.
CREATE PROCEDURE IF NOT EXISTS latchkey_acquire_permits (
  IN p_name VARBINARY(1024), IN p_owner VARBINARY(64), IN p_lease BIGINT, IN p_taken BIGINT,
  IN p_total BIGINT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_held, v_first, v_free BIGINT;
  DECLARE v_all BIGINT UNSIGNED;
  DECLARE v_mine BOOLEAN;
  DECLARE v_result TINYINT DEFAULT 0;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  CALL latchkey_enter_permits(p_name, p_total, v_now, v_all);
  SELECT COALESCE(SUM(place), 0), COALESCE(MIN(ends), 0), COALESCE(MAX(owner = p_owner), FALSE)
    INTO v_held, v_first, v_mine FROM latchkey_members WHERE name = p_name AND kind = 6;
  SET v_free = CAST(v_all AS SIGNED) - v_held;
  IF v_all IS NULL THEN
    SET v_result = 4;
  ELSEIF v_mine THEN
    UPDATE latchkey_members SET ends = GREATEST(ends, v_now + p_lease)
      WHERE name = p_name AND kind = 6 AND owner = p_owner;
  ELSEIF v_all < p_taken THEN
    SET v_result = 3, v_free = v_all;
  ELSEIF v_free < p_taken THEN
    SET v_result = 1;
  ELSE
    INSERT INTO latchkey_members (name, kind, owner, ends, place)
      VALUES (p_name, 6, p_owner, v_now + p_lease, p_taken);
    SET v_free = v_free - p_taken;
  END IF;
  SELECT v_result AS result, GREATEST(COALESCE(v_free, 0), 0) AS fence,
    IF(v_result = 1, v_first - v_now, 0) AS time_left, '' AS holder, 0 AS place;
END
//

-- Extends the lease of a hold of permits, or lets it end earlier. Returns result as latchkey_renew.
CREATE PROCEDURE IF NOT EXISTS latchkey_renew_permits (
  IN p_name VARBINARY(1024), IN p_owner VARBINARY(64), IN p_lease BIGINT, IN p_earlier BOOLEAN)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_own BIGINT;
  DECLARE v_mode TINYINT UNSIGNED DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT mode INTO v_mode FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF v_mode = 4 THEN
    SELECT ends INTO v_own FROM latchkey_members
      WHERE name = p_name AND kind = 6 AND owner = p_owner AND ends > v_now;
  END IF;
  IF v_own IS NOT NULL THEN
    UPDATE latchkey_members
      SET ends = IF(p_earlier, LEAST(ends, v_now + p_lease), GREATEST(ends, v_now + p_lease))
      WHERE name = p_name AND kind = 6 AND owner = p_owner;
  END IF;
  SELECT IF(v_own IS NULL, 2, 0) AS result;
END
//

-- Checks whether an owner still holds its permits; changes nothing. Returns result as latchkey_renew.
CREATE PROCEDURE IF NOT EXISTS latchkey_verify_permits (
  IN p_name VARBINARY(1024), IN p_owner VARBINARY(64))
READS SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT IF(EXISTS (
    SELECT 1 FROM latchkey_members AS m
      JOIN latchkey_locks AS l ON l.name = p_name AND l.mode = 4
      WHERE m.name = p_name AND m.kind = 6 AND m.owner = p_owner AND m.ends > v_now), 0, 2) AS result;
END
//

-- Gives the permits of a hold back. Returns result 0: the owner had them, 2: it had none.
CREATE PROCEDURE IF NOT EXISTS latchkey_release_permits (
  IN p_name VARBINARY(1024), IN p_owner VARBINARY(64))
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_own BIGINT;
  DECLARE v_mode TINYINT UNSIGNED DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT mode INTO v_mode FROM latchkey_locks WHERE name = p_name FOR UPDATE;
  IF v_mode = 4 THEN
    SELECT ends INTO v_own FROM latchkey_members
      WHERE name = p_name AND kind = 6 AND owner = p_owner;
  END IF;
  IF v_own IS NOT NULL THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind = 6 AND owner = p_owner;
  END IF;
  SELECT IF(v_own > v_now, 0, 2) AS result;
END
//

-- Changes how many permits a semaphore has. Returns result 0, or 4: the key is a lock.
CREATE PROCEDURE IF NOT EXISTS latchkey_resize_permits (
  IN p_name VARBINARY(1024), IN p_total BIGINT UNSIGNED)
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  DECLARE v_all BIGINT UNSIGNED;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL latchkey_enter_permits(p_name, p_total, v_now, v_all);
  IF v_all <> p_total THEN
    UPDATE latchkey_locks SET fence = p_total WHERE name = p_name;
  END IF;
  SELECT IF(v_all IS NULL, 4, 0) AS result;
END
//

-- Deletes a semaphore. Returns result 0: there was one, 2: there was none, 4: the key is a lock.
CREATE PROCEDURE IF NOT EXISTS latchkey_destroy_permits (IN p_name VARBINARY(1024))
MODIFIES SQL DATA
SQL SECURITY INVOKER
BEGIN
  DECLARE v_now, v_ends, v_kept BIGINT;
  DECLARE v_fence BIGINT UNSIGNED;
  DECLARE v_mode TINYINT UNSIGNED;
  DECLARE v_owner VARBINARY(64);
  DECLARE v_waiting INT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET v_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  CALL latchkey_look(p_name, v_now, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting);
  IF v_mode = 4 THEN
    DELETE FROM latchkey_members WHERE name = p_name AND kind IN (4, 6);
    DELETE FROM latchkey_locks WHERE name = p_name;
  ELSEIF v_mode IS NOT NULL THEN
    CALL latchkey_settle(p_name, v_mode, v_owner, v_ends, v_fence, v_kept, v_waiting, v_now);
  END IF;
  SELECT CASE COALESCE(v_mode, 0) WHEN 0 THEN 2 WHEN 4 THEN 0 ELSE 4 END AS result;
END
//

-- The version of these tables and procedures. Created last: where it exists, all exist.
-- It fails if the user may not read the tables.
CREATE PROCEDURE IF NOT EXISTS latchkey_schema ()
READS SQL DATA
SQL SECURITY INVOKER
SELECT 1 AS version FROM (SELECT 1) AS one
  LEFT JOIN latchkey_locks AS l ON FALSE
  LEFT JOIN latchkey_members AS m ON FALSE
  LEFT JOIN latchkey_fences AS f ON FALSE
//

DELIMITER ;
