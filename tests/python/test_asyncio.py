"""Locks in asyncio: no thread waits, a task owns, a cancellation withdraws, a loss cancels."""

import asyncio
import gc
import random
import sys
import threading
import time
import unittest
import warnings

import latchkey
from latchkey import LockType
from server import OnRedis


def threads_of_this_process() -> int:
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("Threads:")))


class Tests:
    """The tests, which run on each kind of backend."""

    locks: latchkey.Locks

    async def is_busy(self, key: str, **terms) -> bool:
        async def attempt() -> bool:
            try:
                async with self.locks.lock(key, wait=0, **terms):
                    return False
            except latchkey.LockTimeout:
                return True

        return await asyncio.create_task(attempt())

    async def test_a_lock_is_held_for_the_body_and_no_longer(self) -> None:
        async with self.locks.lock("body", wait=3.0, lease=30.0) as hold:
            self.assertFalse(hold.lost)
            self.assertTrue(await self.is_busy("body"))
            self.assertTrue(await hold.extend(60))
            self.assertGreater(hold.remaining, 40)
        self.assertTrue(hold.lost)
        self.assertFalse(await self.is_busy("body"))

    async def test_a_task_owns_and_enters_again(self) -> None:
        lock = self.locks.lock("own")
        async with lock, lock:
            self.assertTrue(await self.is_busy("own"))
        self.assertFalse(await self.is_busy("own"))

    async def test_a_task_is_not_the_owner_that_its_parent_is(self) -> None:
        async with self.locks.lock("parent"):
            with self.assertRaisesRegex(latchkey.LockTimeout, "'parent'"):
                await asyncio.create_task(self.locks.lock("parent", wait=0.02).acquire_async())

    async def test_a_thousand_tasks_wait_without_a_thread_for_each(self) -> None:
        count = 0

        async def work() -> None:
            nonlocal count
            async with self.locks.lock("thousand", wait=60):
                before = count
                await asyncio.sleep(0)
                count = before + 1

        hold = await self.locks.lock("thousand").acquire_async()
        before = threads_of_this_process()
        tasks = [asyncio.create_task(work()) for _ in range(1000)]
        while self.waiting() < 1000:
            await asyncio.sleep(0)
        self.assertLessEqual(threads_of_this_process(), before + 2)
        await hold.release()
        await asyncio.gather(*tasks)
        self.assertEqual(count, 1000)

    def waiting(self) -> int:
        return len(self.locks._waiters.of_running_loop()._futures)

    async def test_a_cancelled_task_withdraws_its_wait(self) -> None:
        hold = await self.locks.lock("cancelled").acquire_async()
        task = asyncio.create_task(self.locks.lock("cancelled", wait=60).acquire_async())
        while self.waiting() == 0:
            await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await hold.release()
        self.assertFalse(await self.is_busy("cancelled"))

    async def test_a_grant_that_nobody_takes_is_given_back(self) -> None:
        task = asyncio.create_task(self.locks.lock("given back").acquire_async())
        while self.waiting() == 0 and not task.done():
            await asyncio.sleep(0)
        # Until the operation has ended, but the task has not run again.
        waiter = self.locks._waiters.of_running_loop()
        while waiter._futures:
            time.sleep(0.001)  # sleeps: nothing else may run in this loop
            waiter._dispatch()
        task.cancel()
        try:
            await (await task).release()  # it had ended before it was cancelled
        except asyncio.CancelledError:
            pass
        async with self.locks.lock("given back", wait=20):
            pass

    async def test_wait_for_ends_a_wait(self) -> None:
        async with self.locks.lock("wait_for"):
            with self.assertRaises(asyncio.TimeoutError):
                other = self.locks.lock("wait_for", wait=latchkey.FOREVER).acquire_async()
                await asyncio.wait_for(asyncio.create_task(other), 0.05)
        self.assertFalse(await self.is_busy("wait_for"))

    async def test_a_timeout_is_a_sentence(self) -> None:
        async with self.locks.lock("busy"):
            with self.assertRaisesRegex(latchkey.LockTimeout, "'busy'.*was busy"):
                await asyncio.create_task(self.locks.lock("busy", wait=0.02).acquire_async())

    async def test_a_semaphore_has_so_many_permits(self) -> None:
        jobs = self.locks.semaphore("jobs", permits=2, wait=0)
        async with jobs, jobs:
            with self.assertRaises(latchkey.LockTimeout):
                await jobs.acquire_async()

    async def test_several_keys_and_readers(self) -> None:
        async with self.locks.lock("many:1", "many:2", type=LockType.READ):
            self.assertFalse(await self.is_busy("many:1", type=LockType.READ))
            self.assertTrue(await self.is_busy("many:2", type=LockType.WRITE))

    async def test_a_loss_cancels_the_body(self) -> None:
        reached = asyncio.Event()
        with self.assertRaisesRegex(latchkey.LockLost, "'lost'"):
            async with self.locks.lock("lost", lease=1.5):
                self.locks.force_release("lost")
                reached.set()
                await asyncio.Event().wait()
        self.assertTrue(reached.is_set())
        if sys.version_info >= (3, 11):
            self.assertEqual(asyncio.current_task().cancelling(), 0)
        await asyncio.sleep(0)  # the task is not cancelled any more

    async def test_a_loss_can_be_awaited_instead(self) -> None:
        with self.assertLogs("latchkey", "WARNING"):
            async with self.locks.lock("awaited", lease=1.5, on_lost="report") as hold:
                lost = asyncio.create_task(hold.wait_lost())
                await asyncio.sleep(0)
                self.assertFalse(lost.done())
                self.locks.force_release("awaited")
                await asyncio.wait_for(lost, 20)
                self.assertTrue(hold.lost)

    async def test_a_cancelled_body_stays_cancelled(self) -> None:
        entered = asyncio.Event()

        async def work() -> None:
            async with self.locks.lock("stays"):
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await entered.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertFalse(await self.is_busy("stays"))

    async def test_tasks_that_are_cancelled_at_any_time_disturb_no_other(self) -> None:
        inside = [0, 0, 0]
        outcomes = {"held": 0, "busy": 0, "cancelled": 0}

        async def hold(key: int, wait: float, pause: float) -> None:
            async with self.locks.lock(f"any time:{key}", wait=wait):
                inside[key] += 1
                self.assertEqual(inside[key], 1)
                try:
                    await asyncio.sleep(pause)
                finally:
                    inside[key] -= 1

        async def work(chance: random.Random) -> None:
            for _ in range(30):
                wait, pause = chance.choice([0.01, 0.1, 20]), chance.choice([0, 0, 0.002])
                task = asyncio.create_task(hold(chance.randrange(3), wait, pause))
                if chance.random() < 0.4:
                    await asyncio.sleep(chance.choice([0, 0.001, 0.01]))
                    task.cancel()
                try:
                    await task
                    outcomes["held"] += 1
                except (latchkey.LockTimeout, latchkey.BackendUnavailable):
                    outcomes["busy"] += 1  # on a busy machine the server needs more than 10 ms, too
                except asyncio.CancelledError:
                    outcomes["cancelled"] += 1

        await asyncio.wait_for(
            asyncio.gather(*[work(random.Random(seed)) for seed in range(30)]), 120
        )
        self.assertEqual(sum(outcomes.values()), 900)
        self.assertGreater(outcomes["held"], 90)
        self.assertGreater(outcomes["cancelled"], 90)
        for key in range(3):
            self.assertFalse(await self.is_busy(f"any time:{key}"))

    async def test_closing_ends_waits(self) -> None:
        async with latchkey.Locks(self.uri()).lock("unused"):
            pass
        locks = latchkey.Locks(self.uri())
        hold = await locks.lock("closing").acquire_async()
        task = asyncio.create_task(locks.lock("closing", wait=60).acquire_async())
        while len(locks._waiters.of_running_loop()._futures) == 0:
            await asyncio.sleep(0)
        closing = threading.Thread(target=locks.close)
        closing.start()
        with self.assertRaises(latchkey.Closed):
            await task
        await asyncio.get_running_loop().run_in_executor(None, closing.join)
        self.assertTrue(hold.lost)
        await hold.release()

    async def test_a_forgotten_hold_is_released_with_a_warning(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            await self.locks.lock("forgotten").acquire_async()
            gc.collect()
        self.assertIn("'forgotten' was never released", str(caught[0].message))
        self.assertFalse(await self.is_busy("forgotten"))


class TestOnMemory(Tests, unittest.IsolatedAsyncioTestCase):
    def uri(self) -> str:
        return "memory:"

    async def asyncSetUp(self) -> None:
        self.locks = latchkey.Locks("memory:")


class TestOnRedis(Tests, OnRedis, unittest.IsolatedAsyncioTestCase):
    def uri(self) -> str:
        return self.server.uri

    async def asyncSetUp(self) -> None:
        self.locks = latchkey.Locks(self.server.uri)
        self.addCleanup(self.locks.close)

    async def test_a_deleted_key_cancels_the_body(self) -> None:
        with self.assertRaisesRegex(latchkey.LockLost, "'deleted'"):
            async with self.locks.lock("deleted", lease=1.5):
                self.server.command("DEL", "deleted")
                await asyncio.Event().wait()

    async def test_two_locks_exclude_each_other_across_loops_and_threads(self) -> None:
        counts = {"inside": 0, "most": 0, "all": 0}

        def enter() -> None:
            counts["inside"] += 1
            counts["most"] = max(counts["most"], counts["inside"])
            counts["all"] += 1

        async def task(locks: latchkey.Locks) -> None:
            for _ in range(20):
                async with locks.lock("everywhere", wait=60):
                    enter()
                    await asyncio.sleep(0)
                    counts["inside"] -= 1

        def thread() -> None:
            for _ in range(20):
                with self.locks.lock("everywhere", wait=60):
                    enter()
                    time.sleep(0)  # sleeps: lets the other threads run within the lock
                    counts["inside"] -= 1

        async def tasks(locks: latchkey.Locks) -> None:
            await asyncio.gather(*[task(locks) for _ in range(3)])

        def loop_of_its_own() -> None:
            asyncio.run(tasks(self.locks))

        threads = [threading.Thread(target=work) for work in (thread, thread, loop_of_its_own)]
        for each in threads:
            each.start()
        with latchkey.Locks(self.server.uri) as others:
            await tasks(others)
        for each in threads:
            await asyncio.get_running_loop().run_in_executor(None, each.join)
        self.assertEqual(counts, {"inside": 0, "most": 1, "all": 160})


if __name__ == "__main__":
    unittest.main()
