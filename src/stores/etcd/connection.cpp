// The connection to an etcd cluster: login, checks, calls.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/connection.hpp"

#include <charconv>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/etcd/wire/messages.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

constexpr int least_major = 3, least_minor = 4;

bool is_too_old(const std::string& version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end) return true;
  std::from_chars(dot + 1, end, minor);
  return major < least_major || (major == least_major && minor < least_minor);
}

// etcd rejects a signed token that is older than the last change of any permission.
bool needs_new_login(const CallEnd& end) {
  return end.status == GrpcStatus::unauthenticated ||
         (end.status == GrpcStatus::invalid_argument &&
          end.text.find("revision of auth store is old") != std::string::npos);
}

}  // namespace

EtcdConnection::EtcdConnection(const EtcdUri& uri, stores::DescriptorSet& descriptors, Clock& clock,
                               std::chrono::milliseconds timeout,
                               std::function<void(bool up)> on_change)
    : HttpConnection({uri.endpoints, uri.tls, grpc_dialect}, descriptors, clock, timeout,
                     std::move(on_change)),
      user_(uri.user),
      password_(uri.password),
      prefix_(uri.prefix),
      calls_(http()) {}

void EtcdConnection::check() { user_.empty() ? check_version() : log_in(); }

bool EtcdConnection::answered(const CallEnd& end) {
  if (!end.ok()) fail_here(end.text, end.nothing_listens);
  return end.ok();
}

void EtcdConnection::log_in() {
  calls_.use_token({});
  calls_.call(Method::authenticate, encode_login(user_, password_), [this](CallEnd&& end) {
    if (end.status == GrpcStatus::failed_precondition) {
      return fail({true,
                   "etcd has no authentication enabled, but the URI has a user: remove the "
                   "user, or enable it with `etcdctl auth enable`"});
    }
    if (end.status == GrpcStatus::invalid_argument) {
      return fail({true, "etcd rejects this user or this password"});
    }
    if (!answered(end)) return;
    calls_.use_token(decode_token(end.reply));
    check_version();
  });
}

bool EtcdConnection::wants_user(const CallEnd& end) {
  if (end.status != GrpcStatus::invalid_argument || !user_.empty()) return false;
  fail({true, "etcd requires a user and a password: etcd://user:password@host"});
  return true;
}

// Newer releases, such as 3.5.30, tell it to administrators only. None that is too old refuses it,
// and the read that follows needs a leader.
void EtcdConnection::check_version() {
  calls_.call(Method::status, {}, [this](CallEnd&& end) {
    if (end.status == GrpcStatus::permission_denied) return check_reads();
    if (wants_user(end) || !answered(end)) return;
    const StatusReply status = decode_status(end.reply);
    if (is_too_old(status.version)) {
      return fail({true, "etcd " + in_quotes(status.version) + " is too old: 3.4 is the least"});
    }
    if (!status.has_leader) {
      return fail_here(
          "the etcd cluster has no leader: most of its members do not answer each other");
    }
    check_reads();
  });
}

// A read that most of the members confirm. That a key outside its permissions is refused says
// nothing about those of the locks.
void EtcdConnection::check_reads() {
  const std::string key = prefix_ + "latchkey";
  const std::string request = encode_range({.key = key, .limit = 1, .keys_only = true});
  calls_.call(Method::range, request, [this](CallEnd&& end) {
    if (wants_user(end)) return;
    if (end.status != GrpcStatus::permission_denied && !answered(end)) return;
    passed();
  });
}

RequestId EtcdConnection::call(Method method, std::string_view message, OnEnd on_end) {
  return calls_.call(method, message, [this, on_end = std::move(on_end)](CallEnd&& end) {
    if (end.status == GrpcStatus::no_answer) {
      answered(end);
    } else if (needs_new_login(end)) {
      end.status = GrpcStatus::unauthenticated;
      fail_here("the login has expired");
    }
    on_end(std::move(end));
  });
}

}  // namespace latchkey::inline v1::detail::etcd
