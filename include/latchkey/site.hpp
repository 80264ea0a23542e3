// A decorated place in the source, known before main.
#pragma once

#include <atomic>
#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>

namespace latchkey {

namespace detail {

/// One type that a site names. Its address stands for the type.
struct TypeTag {
  std::string_view spelling;  ///< as the compiler spells it
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

/// What one aspect has to say of a site, for listings: LOCKED says its key.
struct SiteNote {
  std::string_view kind;           ///< the aspect, for example "LOCKED"
  std::string_view text;           ///< for example the key template
  const SiteNote* next = nullptr;  ///< the next inner aspect's
  const void* facts = nullptr;     ///< what only that aspect understands
};

/// One use of AROUND or DECORATED, or one callable that was decorated.
///
/// Sites are constant-initialised and linked into one list before main, so that a policy or a
/// listing can name them before the first call. A site in a template is one site per instance. All
/// members are thread-safe; texts are made when they are first asked for and live as long as the
/// program, names given by `.named("...")` are known from the first call on, names given by
/// `.named<"...">()` from the start.
class Site {
 public:
  constexpr Site(const std::source_location& place, const char* fixed_name, const char* names,
                 const detail::TypeTag* const* argument_types, std::size_t argument_count,
                 const detail::TypeTag& result_type, const SiteNote* notes) noexcept
      : file_(place.file_name()),
        function_(place.function_name()),
        line_(place.line()),
        names_(names),
        argument_types_(argument_types),
        argument_count_(argument_count),
        result_type_(&result_type),
        notes_(notes),
        given_name_(fixed_name) {}
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// What `.named()` said; otherwise method(); otherwise, outside of any function, "file.cpp:12".
  [[nodiscard]] std::string_view name() const;

  /// The enclosing function as both compilers agree to spell it, without parameters and template
  /// arguments: "Bank::deposit". Empty outside of any function.
  [[nodiscard]] std::string_view method() const;

  /// Name and place, for messages: "Bank::deposit (bank.cpp:12)"; a name that is the place, once.
  [[nodiscard]] std::string where() const;

  /// As the compiler was given it.
  [[nodiscard]] std::string_view file() const noexcept { return file_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  [[nodiscard]] std::size_t argument_count() const noexcept { return argument_count_; }
  /// Empty where arguments go by position. Throws std::out_of_range.
  [[nodiscard]] std::string_view argument_name(std::size_t position) const;
  /// Without const and reference. Throws std::out_of_range.
  [[nodiscard]] std::string_view argument_type(std::size_t position) const;
  /// As declared, "void" included.
  [[nodiscard]] std::string_view result_type() const;

  /// What the aspects say, outermost first; null: nothing.
  [[nodiscard]] const SiteNote* notes() const noexcept { return notes_; }

  /// For aspects with a member like `.named()`; an empty name changes nothing.
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

  // What the place says and not the place itself: GCC keeps that in an object of its own, which
  // AddressSanitizer cannot tell apart between files that share a header with decorated methods.
  const char* file_;
  const char* function_;
  std::size_t line_;
  const char* names_;
  const detail::TypeTag* const* argument_types_;
  std::size_t argument_count_;
  const detail::TypeTag* result_type_;
  const SiteNote* notes_;
  std::atomic<const char*> given_name_;
  mutable std::atomic<const detail::SiteText*> text_{nullptr};
  Site* next_ = nullptr;
};

/// Links `site` into the list, once. True, so that it can initialise a static. Lock-free.
bool register_site(Site& site) noexcept;

/// Steps from site to site.
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

/// The sites that were known when it was made.
class SiteList {
 public:
  explicit SiteList(const Site* first) noexcept : first_(first) {}
  [[nodiscard]] SiteIterator begin() const noexcept { return SiteIterator(first_); }
  [[nodiscard]] static SiteIterator end() noexcept { return {}; }

 private:
  const Site* first_;
};

/// Every decorated site of the program, in no particular order; those of a shared object from the
/// time it was loaded. A shared object with decorated sites must stay loaded.
[[nodiscard]] SiteList sites() noexcept;

}  // namespace latchkey
