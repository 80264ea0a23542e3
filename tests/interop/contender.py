"""Contends for a key with one thread and one asyncio task: see tests/interop/contest.hpp, whose words have
these numbers. contender.py URI TYPE KEY INSIDE_US NUMBER FILE: the contenders NUMBER and NUMBER + 1."""

import asyncio
import mmap
import sys
import threading
import time

import latchkey

PHASE, UPDATES, OCCUPANT, OVERLAPS, LAST_TOKEN, STALE_TOKENS, CONTENDERS = range(7)
WARM_GRANTS, GRANTS, LONGEST_WAIT, OF_ONE = range(4)
MEASURED, OVER = 1, 2


class Contender:
    def __init__(self, words, number: int, inside: float) -> None:
        self.words = words
        self.id = number + 1
        self.own = CONTENDERS + OF_ONE * number
        self.inside = inside

    def is_over(self) -> bool:
        return self.words[PHASE] == OVER

    def granted(self, waited: int) -> None:
        if self.words[PHASE] == MEASURED:
            self.words[self.own + GRANTS] += 1
            longest = self.own + LONGEST_WAIT
            self.words[longest] = max(self.words[longest], waited)
        else:
            self.words[self.own + WARM_GRANTS] += 1

    def enter(self, token: int) -> int:
        words = self.words
        if words[OCCUPANT] != 0:
            words[OVERLAPS] += 1
        words[OCCUPANT] = self.id
        if token:
            if token <= words[LAST_TOKEN]:
                words[STALE_TOKENS] += 1
            words[LAST_TOKEN] = token
        return words[UPDATES]

    def leave(self, seen: int) -> None:
        self.words[UPDATES] = seen + 1
        if self.words[OCCUPANT] != self.id:
            self.words[OVERLAPS] += 1
        self.words[OCCUPANT] = 0


def contend_in_a_thread(lock: latchkey.Lock, contender: Contender) -> None:
    while not contender.is_over():
        asked = time.monotonic_ns()
        with lock as hold:
            contender.granted(time.monotonic_ns() - asked)
            seen = contender.enter(hold.token or 0)
            time.sleep(contender.inside)  # sleeps: this is the time inside the lock
            contender.leave(seen)


async def contend_in_a_task(lock: latchkey.Lock, contender: Contender) -> None:
    while not contender.is_over():
        asked = time.monotonic_ns()
        async with lock as hold:
            contender.granted(time.monotonic_ns() - asked)
            seen = contender.enter(hold.token or 0)
            await asyncio.sleep(contender.inside)
            contender.leave(seen)


def main() -> None:
    uri, type, key, inside, number, path = sys.argv[1:]
    with open(path, "r+b") as file:
        words = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")
    lock = latchkey.Locks(uri).lock(key, type=latchkey.LockType[type], wait=20, lease=30)
    contenders = [Contender(words, int(number) + more, int(inside) / 1e6) for more in range(2)]
    thread = threading.Thread(target=contend_in_a_thread, args=(lock, contenders[0]))
    thread.start()
    asyncio.run(contend_in_a_task(lock, contenders[1]))
    thread.join()


main()
