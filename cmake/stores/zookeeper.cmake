# latchkey::zookeeper: locks on ZooKeeper, by its C client without threads.
set(latchkey_zookeeper_sources
  src/stores/zookeeper/administration.cpp
  src/stores/zookeeper/client.cpp
  src/stores/zookeeper/connection.cpp
  src/stores/zookeeper/node_name.cpp
  src/stores/zookeeper/nodes.cpp
  src/stores/zookeeper/recipe/queue_recipe.cpp
  src/stores/zookeeper/recipe/queue_requests.cpp
  src/stores/zookeeper/recipe/queue_watches.cpp
  src/stores/zookeeper/recipe/ticket.cpp
  src/stores/zookeeper/register.cpp
  src/stores/zookeeper/reply_check.cpp
  src/stores/zookeeper/session.cpp
  src/stores/zookeeper/session_operations.cpp
  src/stores/zookeeper/subscriptions.cpp
  src/stores/zookeeper/uri.cpp)
latchkey_store(zookeeper "${latchkey_zookeeper_sources}" include/latchkey/zookeeper.hpp)
