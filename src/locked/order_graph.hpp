// Which lock classes were acquired within which others, and where that was first seen.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/attempt.hpp>

namespace latchkey::inline v1::detail {

/// One lock for the order check. Keys with the same shape in the same place form one class.
struct OrderedLock {
  std::string_view place;  ///< the backend's description and prefix: Locks with the same
                           ///< description are one place
  std::string_view key;
  Origin origin;
};

/// Thread-safe. Remembers every pair of classes for its lifetime.
class OrderGraph {
 public:
  /// Records that `inner` is about to be acquired within `outer`. Returns the text of a report the
  /// first time that this closes a cycle, or that no order remains in which all key pairs of one
  /// class ascend.
  std::optional<std::string> add(const OrderedLock& outer, const OrderedLock& inner);

 private:
  using Class = std::size_t;

  /// Where one class was first acquired within another.
  struct Edge {
    Origin outer;
    Origin inner;
  };
  /// The orders that the key pairs of one class have ruled out.
  struct KeyOrder {
    bool not_by_bytes = false;
    bool not_by_numbers = false;
    bool reported = false;
  };
  struct ClassName {
    std::string place;
    std::string shape;
    auto operator<=>(const ClassName&) const = default;
  };

  Class class_of(const OrderedLock& lock);
  std::optional<std::string> within_class(Class its, const OrderedLock& outer,
                                          const OrderedLock& inner);
  [[nodiscard]] std::vector<Class> path(Class from, Class to) const;
  [[nodiscard]] std::string sentence(const std::vector<Class>& way) const;
  [[nodiscard]] std::string taken_within(Class outer, Class inner) const;

  std::mutex mutex_;
  std::map<ClassName, Class> classes_;  // this and all below: guarded by mutex_
  std::map<Class, std::map<Class, Edge>> edges_;
  std::map<Class, KeyOrder> key_orders_;
};

/// A key template with the content of its braces removed: "account:{}" for "account:{from.id}" and
/// for "'account:' + #to.id". Templates of the same shape make keys of the same class, whatever the
/// names of their arguments.
[[nodiscard]] std::string shape_of(std::string_view key_template);

/// Compares by bytes, but consecutive digits as one number: "a:9" before "a:10".
[[nodiscard]] bool before_by_numbers(std::string_view left, std::string_view right) noexcept;

}  // namespace latchkey::inline v1::detail
