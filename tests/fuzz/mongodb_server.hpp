// A server of MongoDB that lies as the fuzzer's input says.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/bson_lies.hpp"
#include "fuzz/libmongoc_limits.hpp"
#include "fuzz/moves.hpp"
#include "stores/mongodb/bson.hpp"
#include "stores/mongodb/fake_server.hpp"

namespace latchkey::fuzz {

/// Replies to commands of a client. It knows the shape of each reply.
class MongoScript : private BsonLies {
 public:
  using Command = tests::mongodb_wire::Command;

  using BsonLies::BsonLies;

  /// The id and the key of the request that the next commands belong to.
  void begin(std::string owner, std::string key) {
    owner_ = std::move(owner);
    key_ = std::move(key);
    sent_.clear();
    granting_.reset();
    commands_ = 0;
  }
  /// All replies to the request.
  [[nodiscard]] const std::string& sent() const noexcept { return sent_; }
  /// The last reply to a findAndModify, if it is well formed as a message and no other one was in
  /// the way.
  [[nodiscard]] const std::optional<std::string>& granting() const noexcept { return granting_; }
  [[nodiscard]] bool is_in_step() const noexcept { return is_in_step_; }
  [[nodiscard]] int commands() const noexcept { return commands_; }

  /// The time of the server's clock passes.
  void pass(std::int64_t milliseconds) noexcept { now_ += milliseconds; }

  std::optional<std::string> answer(const Command& command) {
    ++commands_;
    // libmongoc 1.23 would read the reply as the rest of the message that was cut off, or the reply
    // to a greeting as a reply of the other kind.
    const bool is_misread = is_cut_ || (is_ahead_ && command.greets);
    if (is_misread) {
      is_cut_ = is_ahead_ = false;
      return std::nullopt;
    }
    is_honest_ = moves_.below(4) < (is_hello(command) ? 3 : 1);
    std::string content = content_of(command);
    const bool is_damaged = damage(content);
    if (ends_libmongoc(content, command.greets)) content = done({});
    auto bytes = framed(command, content);
    if (command.name == "findAndModify") {
      granting_ = bytes && !is_damaged ? std::optional(content) : std::nullopt;
    }
    sent_ += bytes.value_or("");
    return bytes;
  }
  /// Bytes that the server sends without a command.
  std::string word() {
    is_in_step_ = false;
    is_honest_ = false;
    if (is_cut_) return {};
    is_ahead_ = true;
    const Command none{.name = "hello"};
    std::string bytes;
    if (moves_.below(2) == 0) {
      bytes = noise();
    } else {
      const std::string content = content_of(modifying());
      bytes =
          tests::mongodb_wire::reply_to(none, ends_libmongoc(content, false) ? done({}) : content);
    }
    sent_ += bytes;
    return bytes;
  }

 private:
  static bool is_hello(const Command& command) {
    return command.greets || command.name == "hello" || command.name == "ismaster";
  }
  static Command modifying() {
    Command made{.name = "findAndModify"};
    made.document = bson_bytes::document({});
    return made;
  }

  /// The message. Empty: the connection is closed instead. libmongoc before 1.24 reads outside of
  /// its memory, or memory that it has not set, if a message has the opcode of a request or of
  /// another kind of reply, sections that do not fill it, or a document whose own length is wrong:
  /// there are none of these.
  std::optional<std::string> framed(const Command& command, const std::string& content) {
    namespace wire = tests::mongodb_wire;
    std::string bytes = wire::reply_to(command, content);
    if (is_honest_) return bytes;
    const std::size_t damage = moves_.below(32);
    if (damage >= 23) is_in_step_ = false;
    switch (damage) {
      case 23: return std::nullopt;
      case 24: return std::string();
      case 25:
        bytes.replace(0, 4, wire::number(length()));
        is_cut_ = true;
        break;
      case 26:
        bytes.replace(8, 4, wire::number(static_cast<std::int32_t>(moves_.below(256)) - 1));
        break;
      case 27: {
        static constexpr std::array<std::int32_t, 6> unknown{0, 2, 1'000, 2'000, 2'014, -1};
        bytes.replace(12, 4, wire::number(unknown[moves_.below(unknown.size())]));
        break;
      }
      case 28: bytes[16 + moves_.below(4)] = static_cast<char>(moves_.below(256)); break;
      case 29:
        bytes.resize(moves_.below(bytes.size()));
        is_cut_ = true;
        break;
      case 30:
        if (!command.greets) bytes += bytes;
        is_ahead_ = true;
        break;
      case 31: return noise();
      default: break;
    }
    return bytes;
  }
  /// The length of a message that is not accepted, or has not arrived whole.
  std::int32_t length() {
    static constexpr std::array<std::int32_t, 7> lengths{
        0, 1, 15, -1, 48'000'001, std::numeric_limits<std::int32_t>::min(), 40'000'000};
    return lengths[moves_.below(lengths.size())];
  }
  /// Bytes that are not a message.
  std::string noise() {
    is_cut_ = true;
    return tests::mongodb_wire::number(length()) + std::string(moves_.bytes(moves_.below(24)));
  }
  /// True: the document is not what it was. Its length and its end are right.
  bool damage(std::string& content) {
    constexpr std::size_t length_size = 4;
    const std::size_t size = content.size() - length_size - 1;
    if (is_honest_ || size == 0) return false;
    switch (moves_.below(24)) {
      case 22:
        content = bson_bytes::document(content.substr(length_size, moves_.below(size)));
        return true;
      case 23:
        content[length_size + moves_.below(std::min<std::size_t>(size, 256))] =
            static_cast<char>(moves_.below(256));
        return true;
      default: return false;
    }
  }
  std::string done(std::string elements) {
    return bson_bytes::document(elements += field("ok", bson_bytes::of_double(1)));
  }

  std::string content_of(const Command& command) {
    if (is_hello(command)) return hello();
    if (lies(12)) return failed();
    if (command.name == "find") return found(command, "firstBatch");
    if (command.name == "getMore") return found(command, "nextBatch");
    if (command.name == "findAndModify") return modified(command);
    if (command.name == "delete") return deleted();
    return done({});
  }
  std::string failed() {
    using namespace bson_bytes;
    static constexpr std::array<std::int32_t, 20> codes{
        11'000, 13,  18,     50,     59,     64,     91,     100, 79, 189,
        13'436, 334, 10'107, 13'435, 11'600, 11'602, 13'297, 0,   -1, 6};
    return document(field("ok", of_double(0)) +
                    field("code", of_int32(codes[moves_.below(codes.size())])) +
                    field("errmsg", of_text(words())));
  }
  std::string hello() {
    using namespace bson_bytes;
    std::string all = field("isWritablePrimary", of_flag(true)) + field("ismaster", of_flag(true)) +
                      field("maxBsonObjectSize", of_int32(16'777'216)) +
                      field("maxMessageSizeBytes", of_int32(48'000'000)) +
                      field("maxWriteBatchSize", of_int32(100'000)) +
                      field("localTime", of_date(is_honest_ ? now_ : moment())) +
                      field("minWireVersion", of_int32(0)) + field("maxWireVersion", of_int32(13));
    if (lies(8)) {
      static constexpr std::array<std::string_view, 16> names{"msg",
                                                              "setName",
                                                              "hosts",
                                                              "primary",
                                                              "me",
                                                              "secondary",
                                                              "arbiterOnly",
                                                              "logicalSessionTimeoutMinutes",
                                                              "tags",
                                                              "passives",
                                                              "setVersion",
                                                              "electionId",
                                                              "hidden",
                                                              "lastWrite",
                                                              "saslSupportedMechs",
                                                              "topologyVersion"};
      all += element(names[moves_.below(names.size())], any());
    }
    return done(std::move(all));
  }

  std::string text_in(const Command& command, const char* path) const {
    bson_t view;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(command.document.data());
    if (!::bson_init_static(&view, bytes, command.document.size())) return {};
    return detail::mongodb::text_at(view, path).value_or("");
  }
  std::string found(const Command& command, const char* batch) {
    using namespace bson_bytes;
    const bool is_one = command.document.find("singleBatch") != std::string::npos;
    std::string documents;
    const std::size_t count = moves_.below(is_one ? 2 : 4);
    for (std::size_t at = 0; at < count + (lies(24) ? 1 : 0); ++at) {
      documents += element(std::to_string(at), {embedded, lock_document(is_one ? key_ : words())});
    }
    const std::int64_t more = !is_one && rarely(3) ? 7 : 0;
    return done(field("cursor", {embedded, document(field("id", of_int64(more)) +
                                                    field(batch, {array, document(documents)}))}));
  }
  /// The document after the change that the command asks for, or none.
  std::string modified(const Command& command) {
    using namespace bson_bytes;
    const std::string id = text_in(command, "query._id");
    if (id.empty() || moves_.below(4) == 3) return done(field("value", {null, {}}));
    std::string all = field("_id", of_text(id));
    bson_t view;
    bson_iter_t whole, changes, each;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(command.document.data());
    if (::bson_init_static(&view, bytes, command.document.size()) &&
        ::bson_iter_init(&whole, &view) &&
        ::bson_iter_find_descendant(&whole, "update.$set", &changes) &&
        ::bson_iter_recurse(&changes, &each)) {
      while (::bson_iter_next(&each)) {
        const auto* const raw = each.raw;
        all += field(::bson_iter_key(&each),
                     {static_cast<char>(::bson_iter_type(&each)),
                      std::string(reinterpret_cast<const char*>(raw + each.d1),
                                  reinterpret_cast<const char*>(raw + each.next_off))});
      }
    }
    all += field("since", of_date(is_honest_ ? now_ : moment()));
    return done(field("value", {embedded, document(all)}));
  }
  std::string deleted() {
    using namespace bson_bytes;
    std::string all = field("n", of_int32(static_cast<std::int32_t>(moves_.below(2))));
    if (lies(8)) {
      const std::string why =
          document(field("code", of_int32(64)) + field("errmsg", of_text(words())));
      all += moves_.below(2) == 0
                 ? field("writeConcernError", {embedded, why})
                 : field("writeErrors", {array, document(element("0", {embedded, why}))});
    }
    return done(std::move(all));
  }

  std::string sent_;
  std::optional<std::string> granting_;
  int commands_ = 0;
  bool is_in_step_ = true;  ///< each reply is that of its command
  bool is_cut_ = false;     ///< the last message of the connection is not whole
  bool is_ahead_ = false;   ///< the connection has replies to commands that are not sent yet
};

}  // namespace latchkey::fuzz
