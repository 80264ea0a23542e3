// Servers and login, as a Redis URI names them.
// SPDX-License-Identifier: BSL-1.0
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

std::string RedisUri::describe() const {
  if (transport == Transport::unix_socket) {
    return "redis+unix://" + path + (database != 0 ? "?db=" + std::to_string(database) : "");
  }
  std::string text = transport == Transport::tls ? "rediss" : "redis";
  if (locks == Locks::set) text += "+set";
  if (deployment == Deployment::sentinel) text += "+sentinel";
  if (deployment == Deployment::cluster) text += "+cluster";
  text += "://";
  if (deployment == Deployment::server) {
    return text + endpoint.text() + "/" + std::to_string(database);
  }
  for (const Endpoint& each : endpoints)
    text += (&each != endpoints.data() ? "," : "") + each.text();
  if (deployment == Deployment::cluster) return text;
  return text + "/" + master + "/" + std::to_string(database);
}

RedisUri RedisUri::server_at(const Endpoint& where) const {
  RedisUri uri = *this;
  uri.deployment = Deployment::server;
  uri.endpoint = where;
  uri.endpoints.clear();
  return uri;
}

RedisUri RedisUri::sentinel_at(const Endpoint& where) const {
  RedisUri uri = server_at(where);
  uri.user = sentinel_user;
  uri.password = sentinel_password;
  uri.database = 0;
  return uri;
}

}  // namespace latchkey::inline v1::detail::redis
