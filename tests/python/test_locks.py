"""Locks in threads: holds, owners, losses, errors, forks, signals."""

import gc
import math
import os
import signal
import threading
import time
import unittest
import warnings
from datetime import timedelta

import latchkey
from latchkey import LockType
from server import OnRedis, RedisServer, wait_until


def in_thread(work):
    """What `work` returns, or raises, on another thread."""
    outcome = {}

    def run() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


class TestLocks(OnRedis):
    def setUp(self) -> None:
        self.locks = latchkey.Locks(self.server.uri)
        self.addCleanup(self.locks.close)

    def is_busy(self, key: str, **terms) -> bool:
        def attempt() -> bool:
            try:
                with self.locks.lock(key, wait=0, **terms):
                    return False
            except latchkey.LockTimeout:
                return True

        return in_thread(attempt)

    def test_a_lock_is_held_for_the_body_and_no_longer(self) -> None:
        with self.locks.lock("body", wait=3.0, lease=30.0) as hold:
            self.assertEqual(hold.key, "body")
            self.assertFalse(hold.lost)
            self.assertGreater(hold.remaining, 20)
            self.assertTrue(self.is_busy("body"))
            self.assertEqual(self.server.command("EXISTS", "body"), ":1")
        self.assertTrue(hold.lost)
        self.assertFalse(self.is_busy("body"))

    def test_the_type_decides_who_shares(self) -> None:
        with self.locks.lock("shared", type=LockType.READ):
            self.assertFalse(self.is_busy("shared", type=LockType.READ))
            self.assertTrue(self.is_busy("shared", type=LockType.WRITE))

    def test_fences_rise(self) -> None:
        with self.locks.lock("fenced", type=LockType.FENCED) as first:
            pass
        with self.locks.lock("fenced", fenced=True) as second:
            self.assertEqual(second.fence, f"fenced/FENCED/{second.token}")
        self.assertGreater(second.token, first.token)
        with self.locks.lock("plain") as plain:
            self.assertIsNone(plain.token)
            self.assertIsNone(plain.fence)

    def test_a_thread_enters_its_own_lock_again(self) -> None:
        lock = self.locks.lock("again")
        with lock as outer:
            with lock as inner:
                self.assertIsNot(outer, inner)
            self.assertTrue(self.is_busy("again"))
        self.assertFalse(self.is_busy("again"))

    def test_a_read_cannot_become_a_write(self) -> None:
        with self.locks.lock("upgrade", type=LockType.READ):
            with self.assertRaisesRegex(latchkey.WouldDeadlock, "upgrade"):
                self.locks.lock("upgrade", type=LockType.WRITE).acquire()

    def test_several_keys_are_one_hold(self) -> None:
        with self.locks.lock("several:2", "several:1") as hold:
            self.assertTrue(self.is_busy("several:1"))
            self.assertTrue(self.is_busy("several:2"))
            self.assertIn("several:1", hold.key)

    def test_a_timeout_is_a_sentence_and_a_builtin_timeout(self) -> None:
        with self.locks.lock("busy"):
            with self.assertRaisesRegex(latchkey.LockTimeout, "'busy'.*was busy") as caught:
                in_thread(lambda: self.locks.lock("busy", wait=timedelta(milliseconds=30)).acquire())
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertIsInstance(caught.exception, latchkey.Error)

    def test_a_semaphore_has_so_many_permits(self) -> None:
        jobs = self.locks.semaphore("jobs", permits=2, wait=0)
        with jobs, jobs:
            with self.assertRaises(latchkey.LockTimeout):
                jobs.acquire()
        with self.locks.semaphore("jobs", permits=2, take=2, wait=0):
            pass

    def test_a_deleted_key_is_a_lost_hold(self) -> None:
        with self.assertRaisesRegex(latchkey.LockLost, "'deleted' ended before it was released"):
            with self.locks.lock("deleted", lease=1.5) as hold:
                self.server.command("DEL", "deleted")
                wait_until(lambda: hold.lost)

    def test_a_loss_can_be_reported_instead(self) -> None:
        with self.assertLogs("latchkey", "WARNING") as logs:
            with self.locks.lock("reported", lease=1.5, on_lost="report"):
                self.server.command("DEL", "reported")
        self.assertIn("'reported' ended", logs.output[0])

    def test_the_error_of_the_body_wins_over_a_loss(self) -> None:
        with self.assertLogs("latchkey", "WARNING"), self.assertRaises(ZeroDivisionError):
            with self.locks.lock("wins", lease=1.5):
                self.server.command("DEL", "wins")
                raise ZeroDivisionError

    def test_extend_moves_the_deadline(self) -> None:
        with self.locks.lock("extended", lease=5) as hold:
            self.assertTrue(hold.extend(60))
            self.assertGreater(hold.remaining, 30)
            self.server.command("DEL", "extended")
            self.assertFalse(hold.extend(60))
            self.assertTrue(hold.lost)
            hold.release()

    def test_hold_for_keeps_the_key_locked_after_the_body(self) -> None:
        with self.locks.lock("kept", lease=20, hold_for=10):
            pass
        self.assertTrue(self.is_busy("kept"))

    def test_cache_keeps_the_key_until_another_process_waits(self) -> None:
        with self.locks.lock("cached", cache=10):
            pass
        self.assertEqual(self.server.command("EXISTS", "cached"), ":1")
        with latchkey.Locks(self.server.uri) as others, others.lock("cached", wait=10, cache=0):
            pass
        wait_until(lambda: self.server.command("EXISTS", "cached") == ":0")

    def test_an_adaptive_cache_keeps_a_key_that_is_used_again_soon(self) -> None:
        with self.locks.lock("learned", cache="adaptive"):
            pass
        self.assertEqual(self.server.command("EXISTS", "learned"), ":0")

        def is_kept() -> bool:
            with self.locks.lock("learned", cache="adaptive"):
                pass
            return self.server.command("EXISTS", "learned") == ":1"

        wait_until(is_kept)
        wait_until(lambda: self.server.command("EXISTS", "learned") == ":0")

    def test_force_release(self) -> None:
        self.assertFalse(self.locks.force_release("forced"))
        hold = self.locks.lock("forced").acquire()
        self.assertTrue(self.locks.force_release("forced"))
        self.assertFalse(hold.release())

    def test_a_prefix_comes_before_each_key(self) -> None:
        with latchkey.Locks(self.server.uri, prefix="shop:") as locks, locks.lock("k") as hold:
            self.assertEqual(hold.key, "k")
            self.assertEqual(self.server.command("EXISTS", "shop:k"), ":1")

    def test_closed_locks_grant_nothing(self) -> None:
        locks = latchkey.Locks(self.server.uri)
        locks.close()
        with self.assertRaises(latchkey.Closed):
            locks.lock("closed").acquire()

    def test_a_wait_that_is_forever_ends_with_the_release(self) -> None:
        hold = self.locks.lock("forever").acquire()
        waiting = threading.Event()

        def wait() -> bool:
            waiting.set()
            with self.locks.lock("forever", wait=latchkey.FOREVER):
                return True

        result = []
        thread = threading.Thread(target=lambda: result.append(wait()))
        thread.start()
        waiting.wait()
        hold.release()
        thread.join(30)
        self.assertEqual(result, [True])

    def test_a_forgotten_hold_is_released_with_a_warning(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.locks.lock("forgotten").acquire()
            gc.collect()
        self.assertIn("'forgotten' was never released", str(caught[0].message))
        self.assertFalse(self.is_busy("forgotten"))

    def test_threads_lose_no_update(self) -> None:
        count = 0

        def work() -> None:
            nonlocal count
            for _ in range(50):
                with self.locks.lock("count", wait=30):
                    before = count
                    time.sleep(0)  # sleeps: lets the other threads run within the lock
                    count = before + 1

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(count, 400)

    def test_a_signal_ends_the_wait_of_the_main_thread(self) -> None:
        hold = in_thread(lambda: self.locks.lock("signal").acquire())
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        self.addCleanup(timer.join)
        with self.assertRaises(KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.locks.lock("signal", wait=latchkey.FOREVER).acquire()
        hold.release()
        self.assertFalse(self.is_busy("signal"))  # the wait was withdrawn

    def test_a_child_owns_nothing_and_can_lock(self) -> None:
        with self.locks.lock("forked") as hold:
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    busy = False
                    try:
                        self.locks.lock("forked", wait=0).acquire()
                    except latchkey.LockTimeout:
                        busy = True
                    with self.locks.lock("of the child") as own:
                        status = 0 if hold.lost and busy and not own.lost else 2
                    if hold.release():
                        status = 3
                finally:
                    os._exit(status)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertFalse(hold.lost)
            self.assertTrue(self.is_busy("forked"))

    def test_wrong_arguments_are_sentences(self) -> None:
        cases = [
            (lambda: latchkey.Locks("rediz://h"), "unknown scheme 'rediz:'"),
            (lambda: self.locks.lock("k", type="WRITE"), "unknown lock type 'WRITE'"),
            (lambda: self.locks.lock("k", on_lost="rise"), "unknown on_lost 'rise'"),
            (lambda: self.locks.lock(), "at least one key"),
            (lambda: self.locks.lock("").acquire(), "key"),
            (lambda: self.locks.lock("a\0b").acquire(), "NUL"),
            (lambda: self.locks.lock("k", lease=0.001).acquire(), "a lease is at least 10 ms"),
            (lambda: self.locks.lock("k", cache=11).acquire(), "cache takes a time from 0"),
            (lambda: self.locks.lock("k", cache="adaptve"), "unknown cache 'adaptve'; expected"),
            (lambda: self.locks.semaphore("s", permits=0).acquire(), "expected 1 to"),
        ]
        for call, sentence in cases:
            with self.assertRaisesRegex(ValueError, sentence):
                call()
        for time_given in ("3s", math.nan, True):
            with self.assertRaisesRegex(TypeError, "a number of seconds or a timedelta"):
                self.locks.lock("k", wait=time_given)


class TestServerGone(unittest.TestCase):
    def setUp(self) -> None:
        self.server = RedisServer()
        self.addCleanup(self.server.close)

    def test_a_server_that_is_gone_is_unavailable(self) -> None:
        locks = latchkey.Locks(self.server.uri, command_timeout=0.2)
        hold = locks.lock("k").acquire()
        self.server.stop()
        with self.assertRaises(latchkey.ReleaseUnconfirmed) as caught:
            hold.release()
        self.assertIsInstance(caught.exception, latchkey.BackendUnavailable)
        with self.assertRaises(latchkey.BackendUnavailable):
            locks.lock("other", wait=0.1).acquire()

    def test_nobody_answers(self) -> None:
        self.server.stop()
        with self.assertRaises(latchkey.BackendUnavailable):
            latchkey.Locks(self.server.uri, command_timeout=0.2)
        locks = latchkey.Locks(self.server.uri, command_timeout=0.2, allow_down=True)
        with self.assertRaises(latchkey.BackendUnavailable):
            locks.lock("k", wait=0).acquire()


if __name__ == "__main__":
    unittest.main()
