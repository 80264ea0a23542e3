// Site: a decorated place in the source code, known before main.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {

/// Identifies one type that a site names, by its address.
struct TypeTag {
  std::string_view spelling;  ///< as the compiler spells it
};

/// The types of a site, shared by sites with equal ones.
struct SiteTypes {
  const TypeTag* const* arguments;
  std::size_t count;
  const TypeTag* result;
};

struct SiteText;

}  // namespace detail

/// A name for a site: a text that lives as long as the program, such as a literal.
struct SiteName {
  const char* text = nullptr;

  constexpr SiteName() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is what users write
  consteval SiteName(const char* literal) : text(literal) {}
};

/// One aspect's description of a site, for listings. LOCKED gives its key.
struct SiteNote {
  std::string_view kind;           ///< the aspect's name, for example "LOCKED"
  std::string_view text;           ///< for example the key template
  const SiteNote* next = nullptr;  ///< the note of the next inner aspect
  const void* facts = nullptr;     ///< data that only this aspect interprets
};

namespace detail {

/// Instead of a comparison: with -fsanitize, GCC does not compare a variable's address with null in
/// a constant expression.
template <const SiteNote* Note>
inline constexpr bool is_no_note = false;
template <>
inline constexpr bool is_no_note<nullptr> = true;

}  // namespace detail

/// One use of AROUND or DECORATED, or one decorated callable.
///
/// Sites are constant-initialised and linked into one list before main, so a policy or a listing
/// can name them before the first call. A site in a template is one site per instance. All members
/// are thread-safe. Texts are made on first use and live as long as the program. Names given by
/// `.named("...")` are known from the first call on, names given by `.named<"...">()` from the
/// start.
class Site {
 public:
  /// `place` is a std::source_location, or has the three functions of one that are called here.
  template <class Place>
  constexpr Site(const Place& place, const char* fixed_name, const char* names,
                 const detail::SiteTypes& types, const SiteNote* notes) noexcept
      : file_(place.file_name()),
        function_(place.function_name()),
        line_(place.line()),
        names_(names),
        types_(&types),
        notes_(notes),
        given_name_(fixed_name) {}
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// The name given by `.named()`, else method(), else (outside of any function) "file.cpp:12".
  [[nodiscard]] std::string_view name() const;

  /// The enclosing function without parameters and template arguments, spelled the same for GCC and
  /// Clang: "Bank::deposit". Empty outside of any function.
  [[nodiscard]] std::string_view method() const;

  /// Name and location, for messages: "Bank::deposit (bank.cpp:12)". If the name is the location,
  /// it appears once.
  [[nodiscard]] std::string where() const;

  /// As the compiler received it.
  [[nodiscard]] std::string_view file() const noexcept { return file_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  [[nodiscard]] std::size_t argument_count() const noexcept { return types_->count; }
  /// Empty if arguments have positions only. Throws std::out_of_range.
  [[nodiscard]] std::string_view argument_name(std::size_t position) const;
  /// Without const and reference. Throws std::out_of_range.
  [[nodiscard]] std::string_view argument_type(std::size_t position) const;
  /// As declared; may be "void".
  [[nodiscard]] std::string_view result_type() const;

  /// The notes of the aspects, outermost first; null: none.
  [[nodiscard]] const SiteNote* notes() const noexcept { return notes_; }

  /// For aspects with a member like `.named()`. An empty name changes nothing.
  void give_name(SiteName name) noexcept {
    if (name.text != nullptr && given_name_.load(std::memory_order_relaxed) != name.text) {
      given_name_.store(name.text, std::memory_order_relaxed);
    }
  }

 private:
  friend class JoinPoint;
  friend class SiteIterator;
  friend class SiteList;
  friend struct detail::SiteText;
  friend bool register_site(Site& site) noexcept;

  [[nodiscard]] const detail::SiteText& text() const;

  // The members of the source_location and not the object itself: GCC keeps that object separately,
  // and AddressSanitizer cannot tell such objects apart between files that share a header with
  // decorated methods.
  const char* file_;
  const char* function_;
  std::size_t line_;
  const char* names_;
  const detail::SiteTypes* types_;
  const SiteNote* notes_;
  std::atomic<const char*> given_name_;
  mutable std::atomic<const detail::SiteText*> text_{nullptr};
  Site* next_ = nullptr;
};

/// Links `site` into the list, once. Returns true, so that the call can initialise a static.
/// Lock-free.
bool register_site(Site& site) noexcept;

/// A forward iterator over sites.
class SiteIterator {
 public:
  using value_type = Site;
  using difference_type = std::ptrdiff_t;

  SiteIterator() = default;
  explicit SiteIterator(const Site* site) noexcept : site_(site) {}

  const Site& operator*() const noexcept { return *site_; }
  const Site* operator->() const noexcept { return site_; }
  SiteIterator& operator++() noexcept {
    site_ = site_->next_;
    return *this;
  }
  SiteIterator operator++(int) noexcept {
    const SiteIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(SiteIterator, SiteIterator) noexcept = default;

 private:
  const Site* site_ = nullptr;
};

/// The sites that were registered when the list was made.
class SiteList {
 public:
  explicit SiteList(const Site* first) noexcept : first_(first) {}
  [[nodiscard]] SiteIterator begin() const noexcept { return SiteIterator(first_); }
  [[nodiscard]] static SiteIterator end() noexcept { return {}; }

 private:
  const Site* first_;
};

/// Every decorated site of the program, in no particular order. The sites of a shared object appear
/// when it is loaded. A shared object with decorated sites must stay loaded.
[[nodiscard]] SiteList sites() noexcept;

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
