# latchkey::etcd: locks in an etcd cluster, by gRPC over libnghttp2.
set(latchkey_etcd_sources
  src/stores/etcd/administration.cpp
  src/stores/etcd/client.cpp
  src/stores/etcd/connection.cpp
  src/stores/etcd/lock_queue.cpp
  src/stores/etcd/lock_queue_acquire.cpp
  src/stores/etcd/lock_queue_holds.cpp
  src/stores/etcd/lock_queue_subscriptions.cpp
  src/stores/etcd/place.cpp
  src/stores/etcd/queue_keys.cpp
  src/stores/etcd/register.cpp
  src/stores/etcd/sessions.cpp
  src/stores/etcd/transport/grpc_call.cpp
  src/stores/etcd/transport/grpc_calls.cpp
  src/stores/etcd/uri.cpp
  src/stores/etcd/watches.cpp
  src/stores/etcd/wire/messages.cpp)
latchkey_store(etcd "${latchkey_etcd_sources}" include/latchkey/etcd.hpp)
latchkey_uses_http2(etcd)
