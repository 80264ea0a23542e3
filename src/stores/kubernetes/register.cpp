// Registers the scheme k8s.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/kubernetes.hpp>

#include "backend/registry.hpp"
#include "stores/driver/driven_backend.hpp"
#include "stores/kubernetes/client.hpp"

namespace latchkey::inline v1 {

void register_kubernetes() {
  using namespace detail;
  register_store("k8s",
                 &stores::connect_client<kubernetes::KubernetesClient, kubernetes::KubernetesUri>);
}

}  // namespace latchkey::inline v1
