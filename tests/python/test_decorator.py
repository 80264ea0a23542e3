"""@locked on functions and coroutine functions, from code and from policy files."""

import asyncio
import inspect
import os
import pathlib
import tempfile
import threading
import unittest

import latchkey
from latchkey import LockType
from latchkey import _decorator
from server import OnRedis, wait_until


class Account:
    def __init__(self, id: int) -> None:
        self.id = id


class Decorated(unittest.TestCase):
    def setUp(self) -> None:
        self.locks = latchkey.Locks("memory:")
        self.addCleanup(setattr, _decorator, "_installed", None)

    def policies(self, text: str) -> latchkey.Locks:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "latchkey.yaml"
        file.write_text(text)
        return latchkey.Locks.from_policies(file)


class TestCode(Decorated):
    def test_a_call_holds_the_lock_of_its_arguments(self) -> None:
        @self.locks.locked("account:{account.id}:{region}", type=LockType.FENCED)
        def transfer(account, amount, *, region="eu"):
            hold = latchkey.current_hold()
            return hold.key, hold.token > 0, amount

        self.assertEqual(transfer(Account(7), 5), ("account:7:eu", True, 5))
        self.assertEqual(transfer(amount=6, account=Account(8), region="us")[0], "account:8:us")
        self.assertIsNone(latchkey.current_hold())

    def test_the_wrapper_looks_like_the_function(self) -> None:
        @self.locks.locked("k")
        def documented(a: int, b: str = "x") -> None:
            """What it does."""

        @self.locks.locked("k")
        async def coroutine() -> None: ...

        self.assertEqual(documented.__doc__, "What it does.")
        self.assertEqual(list(inspect.signature(documented).parameters), ["a", "b"])
        self.assertTrue(inspect.iscoroutinefunction(coroutine))

    def test_methods_and_several_keys(self) -> None:
        outer = self

        class Bank:
            @self.locks.locked(["account:{source.id}", "account:{target.id}"])
            def transfer(self, source, target):
                with outer.assertRaises(latchkey.LockTimeout):
                    outer.in_thread(outer.locks.lock("account:2", wait=0).acquire)
                return latchkey.current_hold().key

        self.assertIn("account:1", Bank().transfer(Account(2), Account(1)))

    def in_thread(self, work) -> None:
        failed = []

        def run() -> None:
            try:
                work()
            except latchkey.Error as error:
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
        if failed:
            raise failed[0]

    def test_each_element_has_a_key(self) -> None:
        @self.locks.locked("order:{ids[*]}")
        def ship(ids):
            return latchkey.current_hold().key

        self.assertIn("order:3", ship([3, 1]))
        with self.assertRaisesRegex(latchkey.InvalidKey, "no elements"):
            ship([])

    def test_coroutine_functions(self) -> None:
        most = inside = 0

        @self.locks.locked("account:{account.id}", wait=30)
        async def transfer(account):
            nonlocal most, inside
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            return latchkey.current_hold().key

        async def main() -> list:
            return await asyncio.gather(*[transfer(Account(7)) for _ in range(20)])

        self.assertEqual(asyncio.run(main()), ["account:7"] * 20)
        self.assertEqual(most, 1)

    def test_a_call_enters_its_own_lock_again(self) -> None:
        @self.locks.locked("deep")
        def recurse(n):
            return 0 if n == 0 else 1 + recurse(n - 1)

        self.assertEqual(recurse(5), 5)

    def test_strategies(self) -> None:
        ran = []

        @self.locks.locked("busy", wait=0, on_timeout="skip")
        def skipped():
            ran.append(1)
            return 1

        @self.locks.locked("busy", wait=0)
        def raising():
            ran.append(2)

        with self.locks.lock("busy"):
            with self.assertLogs("latchkey", "WARNING"):
                results = []
                self.in_thread(lambda: results.append(skipped()))
            self.assertEqual(results, [None])
            with self.assertRaises(latchkey.LockTimeout) as caught:
                self.in_thread(raising)
            self.assertFalse(caught.exception.body_ran)
        self.assertEqual(ran, [])
        self.assertEqual(skipped(), 1)

    def test_a_loss_is_raised_after_the_body(self) -> None:
        @self.locks.locked("lost")
        def work():
            self.locks.force_release("lost")

        with self.assertRaises(latchkey.LockLost) as caught:
            work()
        self.assertTrue(caught.exception.body_ran)

        @self.locks.locked("lost", on_lost="report")
        def reported():
            self.locks.force_release("lost")
            return 7

        with self.assertLogs("latchkey", "WARNING"):
            self.assertEqual(reported(), 7)

    def test_a_loss_cancels_a_coroutine(self) -> None:
        @self.locks.locked("lost", lease=1.5)
        async def work():
            self.locks.force_release("lost")
            await asyncio.Event().wait()

        with self.assertRaises(latchkey.LockLost) as caught:
            asyncio.run(work())
        self.assertTrue(caught.exception.body_ran)

    def test_a_semaphore(self) -> None:
        @self.locks.locked("jobs", permits=1, wait=0)
        def work():
            return work() if latchkey.current_hold() is None else nested()

        def nested():
            with self.assertRaises(latchkey.LockTimeout):
                self.locks.semaphore("jobs", permits=1, wait=0).acquire()
            return True

        self.assertTrue(work())

    def test_installed_locks(self) -> None:
        @latchkey.locked("k")
        def work():
            return latchkey.current_hold().key

        with self.assertRaisesRegex(latchkey.NotConfigured, r"work is locked by no Locks: call latchkey"):
            work()
        latchkey.install(self.locks)
        latchkey.install(self.locks)
        self.assertEqual(work(), "k")
        with self.assertRaisesRegex(latchkey.InvalidArgument, "other Locks are installed"):
            latchkey.install(latchkey.Locks("memory:"))

    def test_mistakes_are_found_where_they_are_written(self) -> None:
        def generator():
            yield

        def function(a):
            return a

        cases = [
            (lambda: latchkey.locked("k")(generator), "is a generator, whose body runs after the call"),
            (lambda: latchkey.locked("{b}")(function), "b names no parameter: there are a"),
            (lambda: latchkey.locked(), "takes a key or policy="),
            (lambda: latchkey.locked("k", policy="p"), "takes a key or policy="),
            (lambda: latchkey.locked("k", on_timeout="run"), "unknown on_timeout 'run'; expected 'raise'"),
        ]
        for call, sentence in cases:
            with self.assertRaisesRegex(ValueError, sentence):
                call()


POLICIES = """
backends:
  main: "memory:"
  local: "memory:"
backend: main
prefix: "shop:"
defaults:
  wait: 20ms
  on_timeout: skip
policies:
  money:
    key: "account:{account.id}"
    type: WRITE
    lease: 7s
rules:
  AccountService::*:
    wait: 30ms
    on_timeout: raise
  AccountService::transfer:
    key: "transfer:{account.id}"
    fenced: true
    type: WRITE
  AccountService::report:
    backend: local
    lease: watchdog
"""


class TestPolicies(Decorated):
    def test_a_named_policy(self) -> None:
        locks = self.policies(POLICIES)

        @locks.locked(policy="money")
        def pay(account):
            hold = latchkey.current_hold()
            return hold.key, hold.remaining

        key, remaining = pay(Account(7))
        self.assertEqual(key, "account:7")
        self.assertTrue(5 < remaining <= 7, remaining)

    def test_rules_apply_to_methods_by_their_names(self) -> None:
        locks = self.policies(POLICIES)
        outer = self

        class AccountService:
            @locks.locked("code:{account.id}")
            def transfer(self, account):
                return latchkey.current_hold()

            @locks.locked("report")
            def report(self):
                with outer.assertRaises(latchkey.LockTimeout):  # of another backend
                    TestCode.in_thread(outer, locks._policies.backend("local").lock("report", wait=0).acquire)
                with locks.lock("report", wait=0):
                    return latchkey.current_hold().key

        hold = AccountService().transfer(Account(7))
        self.assertEqual(hold.key, "transfer:7")
        self.assertIsNotNone(hold.token)
        self.assertEqual(AccountService().report(), "report")

    def test_a_method_name_as_the_policy(self) -> None:
        locks = self.policies(POLICIES)

        @locks.locked(policy="AccountService.transfer")
        def transfer(account):
            return latchkey.current_hold().key

        @locks.locked(policy="AccountService.audit")
        def audit(account): ...

        self.assertEqual(transfer(Account(7)), "transfer:7")
        with self.assertRaisesRegex(latchkey.PolicyError, "no rule gives AccountService::audit a key"):
            audit(Account(7))

    def test_a_cache_of_the_defaults_leaves_locks_alone_that_cannot_be_kept(self) -> None:
        locks = self.policies(POLICIES.replace("  wait: 20ms\n", "  wait: 20ms\n  cache: 100ms\n"))
        for lock_type in (latchkey.LockType.FAIR, latchkey.LockType.READ, latchkey.LockType.WRITE):

            @locks.locked("k", type=lock_type)
            def work():
                return lock_type

            self.assertEqual(work(), lock_type)
        with self.assertRaisesRegex(latchkey.InvalidArgument, "a FAIR lock is not kept"):
            locks.locked("k", type=latchkey.LockType.FAIR, cache=1)(lambda: None)()

    def test_a_cache_may_be_adaptive_in_the_file_and_in_code(self) -> None:
        for text in (POLICIES.replace("  wait: 20ms\n", "  wait: 20ms\n  cache: adaptive\n"), POLICIES):
            locks = self.policies(text)
            self.assertTrue(locks.locked("k", cache="adaptive")(lambda: True)())
            self.assertTrue(locks.locked("k")(lambda: True)())
        with self.assertRaisesRegex(latchkey.PolicyError, "invalid time 'adaptve'.*or 'adaptive'"):
            self.policies(POLICIES.replace("  wait: 20ms\n", "  wait: 20ms\n  cache: adaptve\n"))

    def test_defaults_apply_where_code_is_silent(self) -> None:
        locks = self.policies(POLICIES)
        ran = []

        @locks.locked("k")
        def silent():
            ran.append(1)

        @locks.locked("k", on_timeout="raise")
        def outspoken():
            ran.append(2)

        with locks.lock("k"):
            with self.assertLogs("latchkey", "WARNING"):
                TestCode.in_thread(self, silent)
            with self.assertRaises(latchkey.LockTimeout):
                TestCode.in_thread(self, outspoken)
        self.assertEqual(ran, [])

    def test_unlocked_dangerously(self) -> None:
        locks = self.policies(POLICIES + "  Batch::run:\n    unlocked: dangerously\n")

        class Batch:
            @locks.locked("k")
            def run(self):
                return latchkey.current_hold()

        self.assertIsNone(Batch().run())

    def test_errors_of_the_file(self) -> None:
        with self.assertRaisesRegex(latchkey.PolicyError, r"latchkey.yaml:5:5: .*'leese'.*'lease'"):
            self.policies('backends:\n  main: "memory:"\npolicies:\n  p:\n    leese: 3s\n')
        with self.assertRaisesRegex(latchkey.PolicyError, "cannot be read"):
            latchkey.Locks.from_policies("/nowhere/latchkey.yaml")
        locks = self.policies(POLICIES)
        with self.assertRaisesRegex(latchkey.PolicyError, "unknown policy 'mony'.*'money'"):
            locks.locked(policy="mony")(lambda account: None)(Account(1))
        with self.assertRaisesRegex(latchkey.PolicyError, "from a policy file"):
            self.locks.locked(policy="money")(lambda account: None)(Account(1))

    def test_a_secret_is_not_shown(self) -> None:
        os.environ["LATCHKEY_TEST_SECRET"] = "hunter2"
        self.addCleanup(os.environ.pop, "LATCHKEY_TEST_SECRET")
        with self.assertRaises(latchkey.Error) as caught:
            self.policies("backends:\n  main: redis://:${LATCHKEY_TEST_SECRET}@127.0.0.1:1/0\n")
        self.assertNotIn("hunter2", str(caught.exception))

    def test_installed_from_a_file(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = os.path.join(folder.name, "latchkey.yaml")
        pathlib.Path(file).write_text(POLICIES)
        latchkey.install_from(file)

        @latchkey.locked(policy="money")
        def pay(account):
            return latchkey.current_hold().key

        self.assertEqual(pay(Account(3)), "account:3")


class TestOnRedis(OnRedis):
    def test_a_deleted_key_is_a_loss(self) -> None:
        locks = latchkey.Locks(self.server.uri)

        @locks.locked("account:{id}", lease=1.5)
        def work(id):
            self.server.command("DEL", f"account:{id}")
            wait_until(lambda: latchkey.current_hold().lost)

        with self.assertRaisesRegex(latchkey.LockLost, "account:7"):
            work(7)

    def test_a_server_that_is_gone_can_be_skipped(self) -> None:
        locks = latchkey.Locks("redis://127.0.0.1:1", command_timeout=0.2, allow_down=True)
        ran = []

        @locks.locked("k", wait=0, on_unavailable="skip")
        def work():
            ran.append(1)

        with self.assertLogs("latchkey", "WARNING"):
            work()
        self.assertEqual(ran, [])


if __name__ == "__main__":
    unittest.main()
