// The stores other than Redis that the campaign was built with.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

#include "chaos/deployment/deployment.hpp"

namespace latchkey::chaos {

/// Registers their schemes.
void register_stores();

/// Throws std::runtime_error if the client library of the store was not found.
std::unique_ptr<Deployment> make_store(DeploymentKind kind);

// Each is defined if its client library was found.
std::unique_ptr<Deployment> make_etcd();
std::unique_ptr<Deployment> make_mongodb();
std::unique_ptr<Deployment> make_mysql();
std::unique_ptr<Deployment> make_postgresql();
std::unique_ptr<Deployment> make_zookeeper();

}  // namespace latchkey::chaos
