"""Transfers between accounts from threads and from asyncio tasks, under the locks of C++ and Java services.

    transfers.py [URI]        default: memory:
"""

import asyncio
import sys
import threading
from dataclasses import dataclass

import latchkey
from latchkey import LockType, locked


@dataclass
class Account:
    id: int
    balance: int


class Bank:
    def __init__(self) -> None:
        self.accounts = [Account(id, 1000) for id in range(4)]

    @locked(["account:{source.id}", "account:{target.id}"], type=LockType.WRITE, wait=30)
    def transfer(self, source: Account, target: Account, amount: int) -> None:
        source.balance -= amount
        target.balance += amount

    @locked("account:{account.id}", type=LockType.WRITE, fenced=True, wait=30)
    async def add_interest(self, account: Account) -> None:
        hold = latchkey.current_hold()
        assert hold is not None
        before = account.balance
        await asyncio.sleep(0)  # other tasks run here, and none of them changes the account
        account.balance = before + before // 100
        print("interest with the fence", hold.fence)

    @locked("account:{account.id}", type=LockType.READ)
    def balance(self, account: Account) -> int:
        return account.balance


def move_money(bank: Bank) -> None:
    for turn in range(50):
        bank.transfer(bank.accounts[turn % 4], bank.accounts[(turn + 1) % 4], 10)


async def add_interest(bank: Bank) -> None:
    await asyncio.gather(*[bank.add_interest(each) for each in bank.accounts * 2])


def main() -> None:
    with latchkey.Locks(sys.argv[1] if len(sys.argv) > 1 else "memory:", prefix="bank:") as locks:
        latchkey.install(locks)
        bank = Bank()
        threads = [threading.Thread(target=move_money, args=(bank,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(map(bank.balance, bank.accounts)) == 4000, "an update was lost"
        asyncio.run(add_interest(bank))
        print("the bank has", sum(map(bank.balance, bank.accounts)))


if __name__ == "__main__":
    main()
