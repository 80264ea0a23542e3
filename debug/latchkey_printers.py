# gdb: prints latchkey's types in one line, and steps into the body of a decorated call.
#
# Read it by `source <prefix>/share/latchkey/gdb/latchkey_printers.py`, in gdb or in ~/.gdbinit; and
# latchkey.skip beside it, so that `step` does not enter latchkey's functions.
import gdb
import gdb.printing

FOREVER = 2**63 - 1


def number_in(value):
    """The integer inside a std::atomic, a duration or a time point: its first non-static member."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        members = value.type.strip_typedefs().fields()
        value = value[next(member for member in members if hasattr(member, "bitpos"))]
    return int(value)


def name_of(enumerator):
    return str(enumerator).rsplit("::", 1)[-1]


def quoted(string):
    return string.format_string(max_elements=200)


class Printer:
    def __init__(self, value):
        self.value = value


class OwnerPrinter(Printer):
    def to_string(self):
        number = int(self.value["number_"])
        return f"Owner({number})" if number else "Owner(nobody)"


class WaitPrinter(Printer):
    def to_string(self):
        length = number_in(self.value["length_"])
        return "Wait(forever)" if length == FOREVER else f"Wait({length} ms)"


class LeasePrinter(Printer):
    def to_string(self):
        length = number_in(self.value["length_"])
        limit = number_in(self.value["limit_"])
        most = f", held at most {limit} ms" if limit else ""
        return (f"Lease({length} ms" if length else "Lease(watchdog") + most + ")"


class LockPrinter(Printer):
    def to_string(self):
        return f"Lock({quoted(self.value['key_'])}, {name_of(self.value['type_'])})"


class SitePrinter(Printer):
    def to_string(self):
        function = self.value["function_"].string()
        return f"Site({function} at {self.value['file_'].string()}:{int(self.value['line_'])})"


class HoldPrinter(Printer):
    """Follows a Hold to what it holds. That needs debug information of latchkey itself."""

    def to_string(self):
        variant = self.value["held_"]
        # std::variant<RemoteHold*, MultiHold*>: either pointer stands in the same place.
        pointer = variant["_M_u"]["_M_first"]["_M_storage"]
        if int(pointer) == 0:
            return "Hold(empty)"
        kind = name_of(self.value["terms_"]["type"])
        try:
            if int(variant["_M_index"]) == 1:
                own_namespace = self.value.type.strip_typedefs().unqualified().name.rsplit("::", 1)[0]
                several = gdb.lookup_type(own_namespace + "::detail::MultiHold").pointer()
                return f"Hold({quoted(pointer.cast(several)['name_'])}, {kind})"
            remote = pointer.dereference()
            key = inline_text(remote["home"]["key"])
            lost = ", marked lost" if number_in(remote["lost"]) else ""
        except gdb.error:
            return f"Hold({kind}; latchkey has no debug information to name the key)"
        return f'Hold("{key}", {kind}{lost})'


def inline_text(value):
    """The content of a detail::InlineString."""
    size = int(value["size_"])
    chars = gdb.lookup_type("char").pointer()
    if size > 64:  # a std::unique_ptr, whose only member is the pointer
        start = value["long_"].address.cast(chars.pointer()).dereference()
    else:
        start = value["short_"].address.cast(chars)
    return start.string(length=size)


class InlineStringPrinter(Printer):
    def to_string(self):
        return inline_text(self.value)

    def display_hint(self):
        return "string"


def make_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("latchkey")
    for name, printer in (("Owner", OwnerPrinter), ("Wait", WaitPrinter), ("Lease", LeasePrinter),
                          ("Lock", LockPrinter), ("Hold", HoldPrinter), ("Site", SitePrinter),
                          ("detail::InlineString", InlineStringPrinter)):
        # The ABI's namespace may stand between.
        printers.add_printer(name, rf"^latchkey::(v\d+::)?{name}$", printer)
    return printers


class Body(gdb.Command):
    """Run from a LOCKED line to the first line of its body.

It stops there, or where the function returns if the body does not run."""

    def __init__(self):
        super().__init__("latchkey-body", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        place = gdb.selected_frame().find_sal()
        # The lambda that begins next. Its second entry in the table of lines is its first statement.
        entries = {}
        for entry in place.symtab.linetable():
            function = gdb.block_for_pc(entry.pc)
            while function is not None and function.function is None:
                function = function.superblock
            if function is not None and "operator()" in function.function.name:
                entries.setdefault(function.start, []).append(entry)
        bodies = [lines for lines in entries.values()
                  if len(lines) > 1 and lines[0].line >= place.line]
        if not bodies:
            raise gdb.GdbError("no body of a decorated call follows this line")
        body = min(bodies, key=lambda lines: lines[0].line)
        gdb.execute(f"advance *{body[1].pc}")


gdb.printing.register_pretty_printer(None, make_printers(), replace=True)
Body()
