// A backend that combines several independent servers (RedLock).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <memory>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes a backend over an odd number of others, at least 3, of any kind. A lock is held if a
/// majority of them grants it. A minority may therefore be down, silent or slow, or may have lost
/// its memory. `Locks::connect("quorum:redis://a redis://b redis://c")` does the same for URIs.
///
/// | sent to all servers   | granted                      | otherwise                         |
/// |-----------------------|------------------------------|-----------------------------------|
/// | acquire               | a majority grants; the rest  | busy if a majority replied, else  |
/// |                       | is not waited for            | unknown; every grant, certain or  |
/// |                       |                              | possible, is released again       |
/// | renew, verify,        | a majority still has it      | gone if a majority has lost it,   |
/// | downgrade, expire     |                              | else unknown                      |
/// | release               | a majority replied (gone if  | unknown; it is sent again         |
/// |                       | a majority had lost it)      |                                   |
///
/// After a majority has replied to a release, it waits up to min(50 ms, lease/10) for the others,
/// but not for a server that missed the last three releases.
/// A server that does not reply within lease/10 counts as silent for that request. That limit is at
/// least 1 ms; for an acquire it is at most 50 ms, for other requests at most 1 s, and for an
/// expire always 1 s. An outcome is refused if so many servers refuse that the others are no
/// majority. A server that has lost a hold when a renewal reaches it is sent an acquire for it at
/// once, and counts from the next request on. The text of an unknown outcome lists the reply of
/// each server.
///
/// Offers REENTRANT, and READ and WRITE if all servers have them. Does not offer FAIR, because the
/// servers have no common queue; nor FENCED, because tokens of independent servers do not increase
/// together; nor notifications: waiters poll; nor inspect, list and force_release: query the
/// servers themselves. Each attempt has an id of its own at the servers, so a delayed release can
/// never free a later hold.
///
/// **Not promised.** If a resource rejects old fencing tokens, one server protects it better than
/// any number of servers in a quorum: see docs/guarantees.md.
///
/// Thread-safe like every backend. Starts no thread: waiting threads drive the servers in turn. A
/// SimpleBackend among the servers must bound the duration of its attempts, because they run on the
/// waiting thread. Throws std::invalid_argument for an even number of servers or fewer than 3.
[[nodiscard]] std::unique_ptr<Backend> make_quorum(std::vector<std::unique_ptr<Backend>> servers,
                                                   const Options& options = {});

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
