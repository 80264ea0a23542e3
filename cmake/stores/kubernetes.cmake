# latchkey::kubernetes: the Leases of Kubernetes, over libnghttp2. The JSON of the API is read with
# nlohmann-json, which a program that links the library does not need.
find_package(nlohmann_json 3.10 QUIET)
set(latchkey_kubernetes_sources
  src/stores/kubernetes/api_reply.cpp
  src/stores/kubernetes/client.cpp
  src/stores/kubernetes/connection.cpp
  src/stores/kubernetes/lease.cpp
  src/stores/kubernetes/lease_info.cpp
  src/stores/kubernetes/lease_listing.cpp
  src/stores/kubernetes/lease_name.cpp
  src/stores/kubernetes/lease_queue.cpp
  src/stores/kubernetes/lease_watch.cpp
  src/stores/kubernetes/observed_leases.cpp
  src/stores/kubernetes/register.cpp
  src/stores/kubernetes/uri.cpp)
if(TARGET nlohmann_json::nlohmann_json)
  latchkey_store(kubernetes "${latchkey_kubernetes_sources}" include/latchkey/kubernetes.hpp)
  latchkey_uses_http2(kubernetes)
endif()
if(TARGET latchkey_kubernetes)
  target_link_libraries(latchkey_kubernetes PRIVATE
    $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
endif()
