// Site: the list of all sites, and their texts.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/site.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <latchkey/detail/name_list.hpp>

#include "aspect/spelling.hpp"

namespace latchkey::inline v1 {
namespace detail {

/// The texts of a site, made once, on first use.
struct SiteText {
  explicit SiteText(const Site& site)
      : method(method_name(site.function_)),
        place(site.file().substr(site.file().rfind('/') + 1)),
        result(type_text(site.types_->result->spelling)) {
    place += ':';
    place += std::to_string(site.line());
    for (std::size_t i = 0; i < site.types_->count; ++i) {
      types.push_back(type_text(site.types_->arguments[i]->spelling));
    }
    for (NameList list(site.names_); list.next();) names.emplace_back(list.name());
    names.resize(site.types_->count);
  }

  std::string method;
  std::string place;
  std::vector<std::string> names;
  std::vector<std::string> types;
  std::string result;
};

namespace {

/// Constant-initialised, because sites register during the dynamic initialisation of other files.
constinit std::atomic<Site*> first_site{nullptr};

}  // namespace
}  // namespace detail

const detail::SiteText& Site::text() const {
  if (const detail::SiteText* made = text_.load(std::memory_order_acquire)) return *made;
  auto mine = std::make_unique<const detail::SiteText>(*this);
  const detail::SiteText* winner = nullptr;
  if (text_.compare_exchange_strong(winner, mine.get(), std::memory_order_acq_rel)) {
    return *mine.release();  // never destroyed: callers keep views of it
  }
  return *winner;
}

std::string_view Site::name() const {
  if (const char* given = given_name_.load(std::memory_order_relaxed)) return given;
  const detail::SiteText& texts = text();
  return texts.method.empty() ? texts.place : texts.method;
}

std::string_view Site::method() const { return text().method; }

std::string Site::where() const {
  const std::string& place = text().place;
  return name() == place ? place : std::string(name()) + " (" + place + ")";
}

std::string_view Site::argument_name(std::size_t position) const {
  return text().names.at(position);
}

std::string_view Site::argument_type(std::size_t position) const {
  return text().types.at(position);
}

std::string_view Site::result_type() const { return text().result; }

bool register_site(Site& site) noexcept {
  Site* first = detail::first_site.load(std::memory_order_relaxed);
  do {
    site.next_ = first;
  } while (!detail::first_site.compare_exchange_weak(first, &site, std::memory_order_release,
                                                     std::memory_order_relaxed));
  return true;
}

SiteList sites() noexcept { return SiteList(detail::first_site.load(std::memory_order_acquire)); }

}  // namespace latchkey::inline v1
