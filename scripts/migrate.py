#!/usr/bin/env python3
"""Rewrites the sources of a program that was written for latchkey 0.1, for latchkey 0.2.

  scripts/migrate.py [--check] FILE...   rewrites each file in place; --check only says what it would do
  scripts/migrate.py --list              prints what it replaces: the old text, a tab, the new one

It renames headers and names, and makes a Leader and a OncePer by the functions of Locks. It prints the
lines that somebody has to read: calls whose defaults have changed, and what it does not understand.
"""

import re
import sys

# Headers: the first match of an old path counts; '' removes the line.
HEADERS = [
    ("aspect/decorated.hpp", "decorated_callable.hpp"),
    ("decorate/once_per.hpp", "locked_once_per.hpp"),
    ("decorate/short_names.hpp", "macros/short.hpp"),
    ("decorate/decorated.hpp", "macros/decorated.hpp"),
    ("decorate/macros.hpp", "macros/locked.hpp"),
    ("key/hash.hpp", "key_hash.hpp"),
    ("key/key_buffer.hpp", "key_buffer.hpp"),
    ("key/parsed_key.hpp", "parsed_key.hpp"),
    ("key/schema.hpp", "key_schema.hpp"),
    ("locked/options.hpp", "lock_options.hpp"),
    ("locked/scope.hpp", "for_scope.hpp"),
    ("reflect/field_macros.hpp", "macros/fields.hpp"),
    ("reflect/fields.hpp", "fields.hpp"),
    ("reflect.hpp", "fields.hpp"),
    ("cxx20.hpp", ""),
    ("once_loop.hpp", "once_per.hpp"),
    ("in_quotes.hpp", ""),
    ("name_list.hpp", ""),
    ("placed_text.hpp", ""),
]
# Headers that are latchkey's own now: what a program may have wanted of them.
FOLDERS = [("aspect/", "aspect.hpp"), ("decorate/", "decorate.hpp"), ("key/", "key.hpp"),
           ("locked/", "locked.hpp"), ("reflect/", "fields.hpp"),
           ("testing/contract/", "testing/backend_contract.hpp")]
KEPT = re.compile(r"(annotations/(values|proxy|word|check)|asio/(async|first_of|latch|leader|once))\.hpp")

STRATEGIES = ("raise", "report", "skip", "skip_with", "fallback", "run_unlocked_dangerously")
STRATEGY_TYPES = ("Raise", "Report", "Skip", "SkipWith", "Fallback", "RunUnlocked")

# Names in namespace latchkey.
NAMES = {
    **{name: f"strategy::{name}" for name in STRATEGIES + STRATEGY_TYPES},
    "refuse": "Reentry::refuse",
    "check": "check_policy_file",
    "reload": "reload_policies",
    "OnTimeout::RAISE": "strategy::raise",
    "OnTimeout::SKIP": "strategy::skip",
    "OnTimeout::RUN_UNLOCKED_DANGEROUSLY": "strategy::run_unlocked_dangerously",
    "OnUnavailable::RAISE": "strategy::raise",
    "OnUnavailable::SKIP": "strategy::skip",
    "OnLost::RAISE": "strategy::raise",
    "OnLost::REPORT": "strategy::report",
    "OnTimeout": "Policy::OnTimeout",
    "OnUnavailable": "Policy::OnUnavailable",
    "OnLost": "Policy::OnLost",
}
TAKES_STRATEGY = r"\bon_(?:timeout|unavailable|lost|unconfirmed_release)\(\s*"

# What made an object, and what makes it now.
MADE = {"Leader": "leader", "OncePer": "once_per"}

CHANGED_DEFAULTS = [
    (re.compile(r"(\.|->)acquire\((\s*\d+\s*)?\)"),
     "waits for 3 s at most, if this is a lock or a semaphore of latchkey; "
     "acquire(latchkey::forever) does what it did"),
    (re.compile(r"\basync_acquire\([^,]*,[^,]*\)\s*[;)]"),
     "waits for 3 s at most; async_acquire(lock, latchkey::forever, latchkey::watchdog, token) does "
     "what it did"),
    (re.compile(r"(make_unique|make_shared|optional)<(latchkey::)?(Leader|OncePer)>"),
     "a Leader is made by locks.leader(key, callback, options), and a OncePer by "
     "locks.once_per(key, period, options)"),
]


def new_header(old: str) -> str | None:
    """The header to include instead of latchkey/<old>; '': none; None: it is the same."""
    for header, new in HEADERS:
        if old == header:
            return new
    if KEPT.fullmatch(old):
        return None
    for folder, new in FOLDERS:
        if old.startswith(folder):
            return new
    if old.startswith("asio/"):
        return "asio.hpp"
    if old.startswith("annotations/"):
        return "annotations.hpp"
    return None


def rewrite_include(match: re.Match) -> str:
    new = new_header(match[2])
    if new is None:
        return match[0]
    return f"{match[1]}<latchkey/{new}>{match[3]}" if new else ""


def rewrite(text: str) -> str:
    text = re.sub(r"([ \t]*#[ \t]*include[ \t]*)<latchkey/([\w/]+\.hpp)>([^\n]*\n)", rewrite_include, text)
    used = set(re.findall(r"\busing latchkey::(?:strategy::)?(\w+);", text))
    for old in sorted(NAMES, key=len, reverse=True):
        text = re.sub(rf"\blatchkey::{old}\b(?!::)", f"latchkey::{NAMES[old]}", text)
    text = text.replace("using latchkey::Reentry::refuse;", "using enum latchkey::Reentry;")
    for name in STRATEGIES:
        if name not in used:
            text = re.sub(rf"({TAKES_STRATEGY}){name}\b", rf"\1latchkey::strategy::{name}", text)
    if "refuse" not in used:
        text = re.sub(r"\breentry\(\s*refuse\s*\)", "reentry(latchkey::Reentry::refuse)", text)
    for kind, function in MADE.items():
        text = re.sub(rf"\b((?:latchkey::)?{kind}) (\w+)\(\s*([\w.>-]+(?:\(\))?),\s*",
                      rf"\1 \2 = \3.{function}(", text)
    return text


def notes(path: str, text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, note in CHANGED_DEFAULTS:
            if match := pattern.search(line):
                found.append(f"{path}:{number}: {match[0].lstrip('.->').strip()} {note}")
    return found


def main(arguments: list[str]) -> int:
    if arguments == ["--list"]:
        for old, new in HEADERS:
            print(f"<latchkey/{old}>\t" + (f"<latchkey/{new}>" if new else "nothing"))
        for old, new in NAMES.items():
            print(f"latchkey::{old}\tlatchkey::{new}")
        return 0
    check = arguments[:1] == ["--check"]
    files = arguments[1:] if check else arguments
    if not files or files[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        changed = rewrite(text)
        if changed != text:
            print(f"{path}: " + ("would be rewritten" if check else "rewritten"))
            if not check:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(changed)
        for note in notes(path, changed):
            print(note)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
