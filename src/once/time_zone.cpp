// The clocks of a time zone: fixed offsets, and the zones of <chrono>.
// SPDX-License-Identifier: BSL-1.0
#include "once/time_zone.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <stdexcept>

namespace latchkey::inline v1::detail {
namespace {

using std::chrono::minutes;

class FixedOffset final : public TimeZone {
 public:
  explicit FixedOffset(minutes offset) noexcept : offset_(offset) {}

  LocalSeconds to_local(SysSeconds time) const override {
    return LocalSeconds(time.time_since_epoch() + offset_);
  }
  LocalMoment to_sys(LocalSeconds time) const override {
    const SysSeconds at(time.time_since_epoch() - offset_);
    return {LocalMoment::Kind::once, at, at};
  }

 private:
  const minutes offset_;
};

std::optional<int> two_digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text.size() == 2 && text[0] != '-' ? std::optional(value) : std::nullopt;
}

/// "+01:00", "-0330" or "+02". Empty: it is none.
std::optional<minutes> offset_of(std::string_view text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const bool west = text[0] == '-';
  text.remove_prefix(1);
  const std::optional<int> hours = two_digits(text.substr(0, 2));
  text.remove_prefix(std::min<std::size_t>(2, text.size()));
  if (text.starts_with(':')) text.remove_prefix(1);
  const std::optional<int> rest = text.empty() ? std::optional(0) : two_digits(text);
  if (!hours || !rest || *hours > 14 || *rest > 59) return std::nullopt;
  const minutes offset(*hours * 60 + *rest);
  return west ? -offset : offset;
}

#if defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L

class NamedZone final : public TimeZone {
 public:
  explicit NamedZone(const std::chrono::time_zone* zone) noexcept : zone_(zone) {}

  LocalSeconds to_local(SysSeconds time) const override { return zone_->to_local(time); }

  LocalMoment to_sys(LocalSeconds time) const override {
    const std::chrono::local_info info = zone_->get_info(time);
    const SysSeconds first(time.time_since_epoch() - info.first.offset);
    if (info.result == std::chrono::local_info::unique) {
      return {LocalMoment::Kind::once, first, first};
    }
    if (info.result == std::chrono::local_info::nonexistent) {
      return {LocalMoment::Kind::gap, info.first.end, info.first.end};
    }
    return {LocalMoment::Kind::overlap, first,
            SysSeconds(time.time_since_epoch() - info.second.offset)};
  }

 private:
  const std::chrono::time_zone* const zone_;
};

std::shared_ptr<const TimeZone> find_named_zone(const std::string& name) {
  try {
    return std::make_shared<NamedZone>(std::chrono::locate_zone(name));
  } catch (const std::runtime_error&) {
    throw std::invalid_argument(
        "no time zone '" + name +
        "'; expected UTC, an offset such as +01:00, or a name of the IANA database such as "
        "Europe/Berlin, and the package tzdata");
  }
}

#else

[[noreturn]] std::shared_ptr<const TimeZone> find_named_zone(const std::string& name) {
  throw std::invalid_argument("the time zone '" + name +
                              "' cannot be had: this latchkey was built with a standard library "
                              "without time zones (GCC has "
                              "them since version 14); expected UTC or an offset such as +01:00");
}

#endif

}  // namespace

std::shared_ptr<const TimeZone> find_time_zone(std::string_view name) {
  if (name == "UTC" || name == "Z") return std::make_shared<FixedOffset>(minutes(0));
  if (const auto offset = offset_of(name)) return std::make_shared<FixedOffset>(*offset);
  return find_named_zone(std::string(name));
}

}  // namespace latchkey::inline v1::detail
