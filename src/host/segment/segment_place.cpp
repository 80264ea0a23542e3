// Where a segment lies: the URIs of host:.
// SPDX-License-Identifier: BSL-1.0
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "backend/uri/uri_options.hpp"
#include "core/text/number.hpp"
#include "host/segment/segment_file.hpp"

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

gid_t group_of(const UriValue& value) {
  gid_t number = 0;
  if (read_number(std::string_view(value.text()), number)) return number;
  std::vector<char> room(std::size_t{64} * 1024);
  group found{};
  group* result = nullptr;
  ::getgrnam_r(value.text().c_str(), &found, room.data(), room.size(), &result);
  if (result == nullptr) value.refuse("a group of this system");
  return found.gr_gid;
}

std::uint64_t size_of(const UriValue& value) {
  const std::string_view text = value.text();
  std::uint64_t megabytes = 0;
  const bool fits = text.ends_with('M') &&
                    read_number(text.substr(0, text.size() - 1), megabytes) && megabytes >= 1 &&
                    megabytes <= 65'536;
  if (!fits) value.refuse("megabytes, from 1M to 65536M");
  return megabytes << 20;
}

using Option = KnownOption<SegmentPlace>;
constexpr std::array known_options{
    Option{"group",
           [](SegmentPlace& place, const UriValue& value) { place.group = group_of(value); }},
    Option{"size",
           [](SegmentPlace& place, const UriValue& value) { place.most_size = size_of(value); }},
};

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
  UriParts parts;
  parts.has_options = question < uri.size();
  if (parts.has_options) parts.options = uri.substr(question + 1);
  read_options(syntax, parts, known_options, place);
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
