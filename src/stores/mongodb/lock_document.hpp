// The document of one key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/mongodb/bson.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// An exclusive hold. The server sets `since` ($currentDate) when it grants and when it renews.
struct Holder {
  std::string owner;
  std::string type;
  Date since;
  std::int64_t lease = 0;  ///< ms

  /// Dates have no fraction of a millisecond: the lease has surely ended one after this.
  [[nodiscard]] Date ends() const noexcept { return {since.milliseconds + lease}; }
};

/// A shared hold.
struct Reader {
  std::string owner;
  Date ends;

  [[nodiscard]] Bson document() const { return doc("owner", owner, "ends", ends); }
};

/// | document                                  | state                                        |
/// |-------------------------------------------|----------------------------------------------|
/// | none, or {_id, fence}                     | free                                         |
/// | {_id, owner, type, since, lease [,fence]} | held until since + lease                     |
/// | {_id, readers: […] [,fence] [,writer]}    | each reader holds until its `ends`; new ones |
/// |                                           | stay out until `writer`                      |
struct LockDocument {
  explicit LockDocument(Bson document);

  /// The first field that latchkey has not written so, and that says nothing therefore. The key is
  /// then neither held nor free. Empty: there is none.
  std::string_view wrong_field{};

  std::optional<Holder> holder;
  std::optional<std::vector<Reader>> readers;
  std::optional<std::int64_t> fence;
  std::optional<Date> writer;
  Bson source;

  [[nodiscard]] const Reader* find_reader(std::string_view owner) const;
  /// Whether somebody holds at `now`, or may hold: a field is wrong.
  [[nodiscard]] bool held(Date now) const;
  /// When the last hold ends.
  [[nodiscard]] Date ends() const;

  /// A filter that matches the document only while its holds are unchanged.
  [[nodiscard]] Bson unchanged(Key key) const;
};

/// The documents of these readers.
[[nodiscard]] std::vector<Bson> documents_of(const std::vector<Reader>& readers);

/// When to try again a lock whose last hold ends at `end`. A release is not announced: not later
/// than after 100 ms.
[[nodiscard]] constexpr std::chrono::milliseconds retry_after(Date end, Date now) noexcept {
  constexpr std::int64_t longest = 100;
  return std::chrono::milliseconds(
      std::clamp<std::int64_t>(end.milliseconds - now.milliseconds, 1, longest));
}

[[nodiscard]] constexpr bool ended(Date end, Date now) noexcept { return end < now; }

}  // namespace latchkey::inline v1::detail::mongodb
