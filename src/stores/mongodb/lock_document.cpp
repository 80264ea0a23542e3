// The document of one key.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/lock_document.hpp"

#include <utility>

namespace latchkey::inline v1::detail::mongodb {

LockDocument::LockDocument(Bson document) : source(std::move(document)) {
  const bson_t& fields = source.get();
  if (auto owner = text_at(fields, "owner")) {
    holder =
        Holder{std::move(*owner), text_at(fields, "type").value_or(""),
               date_at(fields, "since").value_or(Date{}), integer_at(fields, "lease").value_or(0)};
  }
  if (const auto entries = documents_at(fields, "readers")) {
    readers.emplace();
    for (const Bson& entry : *entries) {
      readers->push_back({text_at(entry.get(), "owner").value_or(""),
                          date_at(entry.get(), "ends").value_or(Date{})});
    }
  }
  fence = integer_at(fields, "fence");
  writer = date_at(fields, "writer");
}

const Reader* LockDocument::find_reader(std::string_view owner) const {
  if (!readers) return nullptr;
  const auto found = std::find_if(readers->begin(), readers->end(),
                                  [&](const Reader& each) { return each.owner == owner; });
  return found == readers->end() ? nullptr : &*found;
}

bool LockDocument::held(Date now) const {
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
