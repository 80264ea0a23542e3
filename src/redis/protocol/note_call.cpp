// Encodes the commands that keep a holder's note beside its lock.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/script_call.hpp"

namespace latchkey::inline v1::detail::redis {

// The note of an acquire is stored by a script, which stores nothing if the lock was busy.
bool append_note(CommandBuffer& buffer, const Request& request, const Layout& layout) {
  if (request.type == LockType::PERMIT) return false;  // its holder has no name there
  const Tag tag(request.key);
  const OwnerText owner(request.id, layout.owners);
  const auto note_key = [&] {
    buffer.word({holder_prefix, tag.open(), tag.name, tag.close(), ":", owner});
  };
  switch (request.verb) {
    case Verb::acquire:
      buffer.begin(8);
      buffer.word("EVAL");
      buffer.word(layout.announce->text);
      buffer.word("2");
      buffer.word(request.key);
      note_key();
      buffer.word({owner, request.type == LockType::WRITE ? ":write" : ""});
      buffer.word(request.note);
      buffer.number(request.lease.count());
      return true;
    case Verb::renew:
    case Verb::downgrade:
    case Verb::expire:
      buffer.begin(3);
      buffer.word("PEXPIRE");
      note_key();
      buffer.number(request.lease.count());
      return true;
    case Verb::release:
    case Verb::leave:
      buffer.begin(2);
      buffer.word("DEL");
      note_key();
      return true;
    default: return false;
  }
}

}  // namespace latchkey::inline v1::detail::redis
