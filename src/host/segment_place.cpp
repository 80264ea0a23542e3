// Where a segment lies: the URIs of host:.
// SPDX-License-Identifier: BSL-1.0
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "backend/uri/uri_syntax.hpp"
#include "core/text/number.hpp"
#include "host/segment_file.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

constexpr std::string_view scheme = "host:";
constexpr UriSyntax syntax("host", "host:orders");

bool is_name(std::string_view text) {
  const auto fits = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
  };
  return !text.empty() && text.size() <= 128 && text.front() != '.' &&
         std::ranges::all_of(text, fits);
}

gid_t group_of(const UriOption& option, const std::string& name) {
  gid_t number = 0;
  if (read_number(name, number)) return number;
  std::vector<char> room(64 * 1024);
  group found{};
  group* result = nullptr;
  ::getgrnam_r(name.c_str(), &found, room.data(), room.size(), &result);
  if (result == nullptr) syntax.refuse_value(option.name, name, "a group of this system");
  return found.gr_gid;
}

std::uint64_t size_of(const UriOption& option) {
  std::uint64_t megabytes = 0;
  const bool fits = option.value.ends_with('M') &&
                    read_number(option.value.substr(0, option.value.size() - 1), megabytes) &&
                    megabytes >= 1 && megabytes <= 65'536;
  if (!fits) syntax.refuse_value(option.name, option.value, "megabytes, from 1M to 65536M");
  return megabytes << 20;
}

}  // namespace

SegmentPlace SegmentPlace::parse(std::string_view uri) {
  SegmentPlace place;
  const std::size_t question = std::min(uri.find('?'), uri.size());
  place.description = uri.substr(0, question);
  const std::string_view name =
      uri.substr(std::min(scheme.size(), question), question - std::min(scheme.size(), question));
  const bool is_path = name.starts_with('/') && !name.starts_with("//") && !name.ends_with('/');
  if (!uri.starts_with(scheme) || (!is_path && !is_name(name))) {
    throw std::invalid_argument("invalid host URI '" + place.description +
                                "'; expected \"host:name\", of letters, digits, '-', '_' and '.', "
                                "or \"host:/path\"");
  }
  std::vector<UriOption> options;
  if (question < uri.size()) options = syntax.options(uri.substr(question + 1));
  for (const UriOption& option : options) {
    if (option.name == "group") {
      place.group = group_of(option, syntax.decoded(option.value, "group"));
    } else if (option.name == "size") {
      place.most_size = size_of(option);
    } else {
      syntax.refuse_option(option.name, "group, size");
    }
  }
  if (is_path) {
    place.path = name;
  } else {
    const std::string owner =
        place.group ? "g" + std::to_string(*place.group) : std::to_string(::geteuid());
    place.path = "/dev/shm/latchkey-" + owner + "-" + std::string(name);
  }
  return place;
}

}  // namespace latchkey::inline v1::detail::host
