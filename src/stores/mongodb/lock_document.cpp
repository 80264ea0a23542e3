// The document of one key.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/lock_document.hpp"

#include <limits>
#include <utility>

namespace latchkey::inline v1::detail::mongodb {
namespace {

/// A block of tokens follows it.
constexpr std::int64_t last_fence = std::numeric_limits<std::int64_t>::max() -
                                    std::int64_t{std::numeric_limits<std::uint32_t>::max()};

/// A number from 0 to `last`.
std::optional<std::int64_t> within(std::optional<std::int64_t> number, std::int64_t last) {
  return number && *number >= 0 && *number <= last ? number : std::nullopt;
}

}  // namespace

LockDocument::LockDocument(Bson document) : source(std::move(document)) {
  const bson_t& fields = source.get();
  // Returns `value`, or `otherwise` for a field that is missing or cannot be read.
  const auto take = [&](const auto& value, const char* name, bool needed, auto otherwise) {
    if (!value && (needed || has(fields, name)) && wrong_field.empty()) wrong_field = name;
    return value.value_or(otherwise);
  };
  const bool is_held = has(fields, "owner");
  auto owner = take(text_at(fields, "owner"), "owner", false, std::string());
  if (is_held) {
    const Date since = take(date_at(fields, "since"), "since", true, Date{});
    const std::int64_t lease =
        take(within(integer_at(fields, "lease"), Date::latest), "lease", true, std::int64_t{0});
    holder = Holder{std::move(owner), text_at(fields, "type").value_or(""), since, lease};
  }
  if (has(fields, "readers")) {
    readers.emplace();
    for (const Bson& entry :
         take(documents_at(fields, "readers"), "readers", true, std::vector<Bson>{})) {
      auto reader = text_at(entry.get(), "owner");
      const auto ends = date_at(entry.get(), "ends");
      if (reader && ends) {
        readers->push_back({std::move(*reader), *ends});
      } else if (wrong_field.empty()) {
        wrong_field = "readers";
      }
    }
  }
  fence = within(integer_at(fields, "fence"), last_fence);
  static_cast<void>(take(fence, "fence", false, std::int64_t{0}));
  writer = date_at(fields, "writer");
  static_cast<void>(take(writer, "writer", false, Date{}));
}

const Reader* LockDocument::find_reader(std::string_view owner) const {
  if (!readers) return nullptr;
  const auto found = std::find_if(readers->begin(), readers->end(),
                                  [&](const Reader& each) { return each.owner == owner; });
  return found == readers->end() ? nullptr : &*found;
}

bool LockDocument::held(Date now) const {
  if (!wrong_field.empty()) return true;
  return (holder || (readers && !readers->empty())) && !ended(ends(), now);
}

Date LockDocument::ends() const {
  Date last = holder ? holder->ends() : Date{};
  if (readers) {
    for (const Reader& reader : *readers) last = std::max(last, reader.ends);
  }
  return last;
}

Bson LockDocument::unchanged(Key key) const {
  Bson filter = doc("_id", key);
  if (holder) {
    append_fields(filter, "owner", holder->owner, "since", holder->since, "lease", holder->lease);
  } else {
    filter.append("owner", absent());
  }
  if (readers) {
    filter.append("readers", documents_of(*readers));
  } else {
    filter.append("readers", absent());
  }
  if (!holder && !readers && fence) filter.append("fence", *fence);
  return filter;
}

std::vector<Bson> documents_of(const std::vector<Reader>& readers) {
  std::vector<Bson> documents;
  documents.reserve(readers.size());
  for (const Reader& reader : readers) documents.push_back(reader.document());
  return documents;
}

}  // namespace latchkey::inline v1::detail::mongodb
