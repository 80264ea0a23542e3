// Reads and writes Leases as JSON.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* not_json = "malformed reply: it is not the JSON that the API server writes";

Json parse(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The member of an object; null: it has none.
const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_at(const Json& object, const char* name) {
  const Json* const found = member(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// False: there is something else than a text. Absent is empty.
bool read_text(const Json& object, const char* name, std::string& to) {
  const Json* const found = member(object, name);
  if (found == nullptr) return true;
  if (!found->is_string()) return false;
  to = found->get<std::string>();
  return true;
}

/// False: there is something else than a number from 0 to 2^31 - 1. Absent is 0.
bool read_count(const Json& object, const char* name, std::int64_t& to) {
  const Json* const found = member(object, name);
  if (found == nullptr) return true;
  if (!found->is_number_integer()) return false;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{largest_number})
    return false;
  to = found->get<std::int64_t>();
  return to >= 0;
}

std::optional<LeaseObject> lease_of(const Json& json, std::string& why) {
  const auto malformed = [&](const std::string& what) {
    why = "malformed reply: the Lease " + what;
    return std::nullopt;
  };
  const Json* const metadata = member(json, "metadata");
  if (metadata == nullptr) {
    why = not_json;
    return std::nullopt;
  }
  LeaseObject lease;
  lease.name = text_at(*metadata, "name");
  lease.version = text_at(*metadata, "resourceVersion");
  if (lease.name.empty() || lease.version.empty()) {
    return malformed("has no metadata.name or no metadata.resourceVersion");
  }
  if (const Json* const spec = member(json, "spec")) {
    LeaseRecord& record = lease.record;
    const bool fits = spec->is_object() && read_text(*spec, "holderIdentity", record.holder) &&
                      read_count(*spec, "leaseDurationSeconds", record.seconds) &&
                      read_count(*spec, "leaseTransitions", record.transitions) &&
                      read_text(*spec, "acquireTime", record.acquired) &&
                      read_text(*spec, "renewTime", record.renewed);
    if (!fits) return malformed("has a spec with a field of another type than in the API");
  }
  lease.object = dumped(json);
  return lease;
}

/// The objects in a list have no kind of their own.
void complete(Json& json) {
  json["apiVersion"] = "coordination.k8s.io/v1";
  json["kind"] = "Lease";
}

void put(Json& json, const LeaseRecord& record) {
  Json& spec = json["spec"];
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.seconds;
  spec["leaseTransitions"] = record.transitions;
  spec["acquireTime"] = record.acquired;
  spec["renewTime"] = record.renewed;
}

bool all_read(std::string_view text, std::array<int, 6>& numbers) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> fields{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t each = 0; each < fields.size(); ++each) {
    const auto [at, size] = fields[each];
    if (!read_number(text.substr(at, size), numbers[each]) || numbers[each] < 0) return false;
  }
  return true;
}

}  // namespace

std::optional<LeaseObject> read_lease(std::string_view json, std::string& why) {
  return lease_of(parse(json), why);
}

std::string new_lease(const std::string& name, const std::string& name_space,
                      const LeaseRecord& record) {
  Json json;
  complete(json);
  json["metadata"] = {{"name", name},
                      {"namespace", name_space},
                      {"labels", {{"app.kubernetes.io/managed-by", "latchkey"}}}};
  put(json, record);
  return dumped(json);
}

std::string changed_lease(const LeaseObject& lease, const LeaseRecord& record) {
  Json json = parse(lease.object);
  complete(json);
  put(json, record);
  return dumped(json);
}

std::string text_of(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 48> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
      static_cast<int>(clock.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::optional<WallTime> wall_time_of(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00T00:00:00";
  if (text.size() < shape.size() + 1 || !text.ends_with('Z')) return std::nullopt;
  for (const std::size_t at : {4U, 7U, 10U, 13U, 16U}) {
    if (text[at] != shape[at]) return std::nullopt;
  }
  std::array<int, 6> numbers{};
  if (!all_read(text, numbers)) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(numbers[0]),
                                         std::chrono::month(static_cast<unsigned>(numbers[1])),
                                         std::chrono::day(static_cast<unsigned>(numbers[2]))};
  if (!date.ok()) return std::nullopt;
  std::chrono::microseconds fraction{};
  std::string_view rest = text.substr(shape.size(), text.size() - shape.size() - 1);
  if (!rest.empty()) {
    std::string digits(rest.substr(1));
    digits.resize(6, '0');
    std::int64_t count = 0;
    if (rest.front() != '.' || !read_number(std::string_view(digits), count)) return std::nullopt;
    fraction = std::chrono::microseconds(count);
  }
  return std::chrono::sys_days(date) + std::chrono::hours(numbers[3]) +
         std::chrono::minutes(numbers[4]) + std::chrono::seconds(numbers[5]) + fraction;
}

std::optional<WatchEvent> read_event(std::string_view json, std::string& why) {
  const Json event = parse(json);
  const std::string type = text_at(event, "type");
  const Json* const object = member(event, "object");
  if (type.empty() || object == nullptr) {
    why = not_json;
    return std::nullopt;
  }
  WatchEvent read;
  if (type == "ERROR") {
    read.kind = WatchEvent::Kind::failed;
    read.reason = text_at(*object, "message");
    return read;
  }
  const bool changed = type == "ADDED" || type == "MODIFIED";
  if (!changed && type != "DELETED") return read;
  auto lease = lease_of(*object, why);
  if (!lease) return std::nullopt;
  read.kind = changed ? WatchEvent::Kind::changed : WatchEvent::Kind::deleted;
  read.lease = std::move(*lease);
  return read;
}

std::optional<LeaseList> read_list(std::string_view json, std::string& why) {
  const Json list = parse(json);
  const Json* const metadata = member(list, "metadata");
  if (metadata == nullptr || text_at(list, "kind") != "LeaseList") {
    why = not_json;
    return std::nullopt;
  }
  LeaseList read;
  read.next = text_at(*metadata, "continue");
  const Json* const items = member(list, "items");
  if (items == nullptr) return read;
  for (const Json& each : *items) {
    auto lease = lease_of(each, why);
    if (!lease) return std::nullopt;
    read.leases.push_back(std::move(*lease));
  }
  return read;
}

ApiStatus read_status(std::string_view json) {
  const Json status = parse(json);
  if (text_at(status, "kind") != "Status") return {};
  ApiStatus read{text_at(status, "reason"), text_at(status, "message"), {}};
  if (const Json* const details = member(status, "details")) read.kind = text_at(*details, "kind");
  return read;
}

}  // namespace latchkey::inline v1::detail::kubernetes
