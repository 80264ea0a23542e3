// Lists the Leases of a namespace.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease_listing.hpp"

#include <utility>

#include "core/text/glob.hpp"
#include "stores/kubernetes/api_reply.hpp"
#include "stores/kubernetes/lease_info.hpp"
#include "stores/kubernetes/lease_name.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

constexpr const char* first_part = "?limit=500";

/// The token of a part, which may have any byte, as a value in a URI.
std::string encoded(const std::string& token) {
  constexpr std::string_view hexadecimal = "0123456789ABCDEF";
  std::string text;
  for (const char each : token) {
    const auto byte = static_cast<unsigned char>(each);
    text.append(1, '%').append(1, hexadecimal[byte >> 4U]).append(1, hexadecimal[byte & 15U]);
  }
  return text;
}

}  // namespace

void LeaseListing::submit(Request& request, Sink& sink) {
  if (request.part != nullptr && request.part->awaited) {
    return context_.outbox.refuse(request, sink, "a Lease does not say who waits for it");
  }
  read(request, sink, {});
}

void LeaseListing::read(Request& request, Sink& sink, const std::string& token) {
  if (!context_.link.is_up()) {
    return context_.outbox.complete_unknown(request, sink, "the connection is down", true);
  }
  std::string path = first_part;
  if (!token.empty()) path += "&continue=" + encoded(token);
  context_.link.get(path, [this, &request, &sink](http2::HttpEnd&& end) {
    on_read(request, sink, std::move(end));
  });
}

// 410: the API server has forgotten what it has listed so far, so the list begins anew.
void LeaseListing::on_read(Request& request, Sink& sink, http2::HttpEnd&& end) {
  if (end.status == HttpStatus::gone) {
    request.names->clear();
    return read(request, sink, {});
  }
  if (end.status != HttpStatus::ok) {
    return context_.outbox.complete(request, sink,
                                    outcome_of(end, {"list", context_.link.name_space()}));
  }
  std::string why;
  const auto list = read_list(end.body, why);
  if (!list) return context_.outbox.complete_unknown(request, sink, why, true);
  for (const LeaseObject& lease : list->leases) {
    auto key = key_of(lease.name);
    if (!key || !seems_held(lease.record) || !glob_matches(request.key, *key)) continue;
    request.names->push_back(std::move(*key));
  }
  if (!list->next.empty()) return read(request, sink, list->next);
  context_.outbox.complete(request, sink, Outcome::Kind::granted);
}

}  // namespace latchkey::inline v1::detail::kubernetes
