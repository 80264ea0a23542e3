"""Key templates: the same bytes as in C++, and sentences for what makes no key."""

import dataclasses
import enum
import inspect
import pathlib
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from typing import Optional

import latchkey
from latchkey._keys import Key

TABLE = pathlib.Path(__file__).with_name("key_table.tsv")


class Kind(enum.Enum):
    SAVINGS = 3


@dataclasses.dataclass
class User:
    id: int = 42
    name: str = "Ada L"
    nick: Optional[str] = None
    tags: list = dataclasses.field(default_factory=lambda: ["a", "b"])
    by_name: dict = dataclasses.field(default_factory=lambda: {"x": 7})
    active: bool = True
    kind: Kind = Kind.SAVINGS
    born: datetime = datetime(2024, 5, 1, 14, 0, 0, 250_000, timezone(timedelta(hours=2)))
    patience: timedelta = timedelta(seconds=1.5)
    raw: bytes = b"\x0a\xff"
    balance: float = 1.5


def use(user, count=-7):
    return user, count


def keys_of(template: str, *args) -> list:
    signature = inspect.signature(use)
    bound = signature.bind(*args)
    bound.apply_defaults()
    return Key(template, signature).render(bound.arguments)


class TestKeys(unittest.TestCase):
    def test_the_table_that_cpp_reads_too(self) -> None:
        rows = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
        self.assertGreater(len(rows), 20)
        for row in rows:
            template, expected = row.split("\t")
            with self.subTest(template=template):
                self.assertEqual(" ".join(keys_of(template, User())), expected)

    def test_positions_do_not_count_self(self) -> None:
        class Bank:
            def transfer(self, account):
                return account

        key = Key("{0}:{self.name}", inspect.signature(Bank.transfer))
        bank = Bank()
        bank.name = "b"
        self.assertEqual(key.render({"self": bank, "account": 7}), ["7:b"])

    def test_values_of_python(self) -> None:
        number = uuid.UUID("550e8400-e29b-41d4-a716-446655440000")
        self.assertEqual(keys_of("{user}", number), ["550e8400e29b41d4a716446655440000"])
        self.assertEqual(keys_of("{user}", 2**64 - 1), ["18446744073709551615"])
        self.assertEqual(keys_of("{user}", "é/\udcff"), ["é%2F\udcff"])
        self.assertEqual(keys_of("{user}", timedelta(microseconds=-1500)), ["-0.0015s"])
        self.assertEqual(keys_of("{user['a'].id}", {"a": User()}), ["42"])

        class Money:
            def __latchkey_key__(self) -> str:
                return "5 EUR"

        self.assertEqual(keys_of("{user}", Money()), ["5%20EUR"])

    def test_templates_that_are_wrong(self) -> None:
        cases = [
            ("", "a key must not be empty"),
            ("account:{user.id", "column 9.*never closed"),
            ("{user.id}{count}", "no separator|between"),
            ("{usr.id}", "usr.id names no parameter: there are user, count"),
            ("{2}", "is no position: there are 2 parameters"),
            ("{lowr(user)}", "lowr"),
        ]
        for template, sentence in cases:
            with self.subTest(template=template):
                with self.assertRaisesRegex(latchkey.InvalidKey, sentence):
                    keys_of(template, User())

    def test_values_that_make_no_key(self) -> None:
        cases = [
            ("{user.nick}", User(), "user.nick has no value; a default is written"),
            ("{user}", "", "user is an empty text"),
            ("{user.tags[7]}", User(), "names an element that is not there"),
            ("{user.balance}", User(), "is a float, which makes no key"),
            ("{user}", User(), "is a User, which makes no key: name one of its attributes"),
            ("{user.tags}", User(), r"is a container, which makes no key: write \[0\]"),
            ("{user.nme}", User(), "names 'nme', which a User does not have"),
            ("{user.id}", {"id": 7}, r"which a dict does not have; write \['id'\]"),
            ("{user}", datetime(2024, 5, 1), "a time without a time zone"),
            ("{user.name % 7}", User(), "is a text; expected an integer"),
            ("{user}", 2**64, "more than 64 bits"),
            ("{size(count)}", User(), "count has no size: it is a int"),
            ("{user.name[*]}", User(), r"is a str: \[\*\] takes each element"),
            ("{user}", "x" * 2000, "renders to more than 1024 bytes"),
        ]
        for template, value, sentence in cases:
            with self.subTest(template=template):
                with self.assertRaisesRegex(latchkey.InvalidKey, sentence):
                    keys_of(template, value)

    def test_no_element_makes_no_key(self) -> None:
        self.assertEqual(keys_of("{user.tags[*]}", User(tags=[])), [])


if __name__ == "__main__":
    unittest.main()
