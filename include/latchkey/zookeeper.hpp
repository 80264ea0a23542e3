// Locks on ZooKeeper.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Makes Locks::connect take URIs of ZooKeeper. Idempotent; thread-safe. Call it from main.
///
/// `zookeeper://[user:password@]host[:port][,host[:port]…][/path][?options]`
///
/// | part          | meaning                                                             |
/// |---------------|---------------------------------------------------------------------|
/// | user:password | digest authentication                                               |
/// | host:port     | the servers of one ensemble; port 2181 by default                   |
/// | /path         | the folder of the locks: the key `order` is the path `/path/order`  |
/// | session=30s   | the session timeout, which no lease exceeds; by default the lease   |
/// |               | of the watchdog                                                     |
/// | acl=creator   | only clients with this user and password may use the nodes: the     |
/// |               | default if there is a user                                          |
/// | acl=open      | everybody may use them                                              |
///
/// The locks are those of Curator: a `lock("order")` is the `InterProcessMutex` of `/path/order`,
/// and its READ and WRITE are its `InterProcessReadWriteLock`. Needs ZooKeeper 3.5.3 or later.
void register_zookeeper();

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
