// Parses the bytes of a server into replies.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/reply_reader.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace latchkey::inline v1::detail::redis {
namespace {

// hiredis calls these functions to create redisReply objects. They do what hiredis's own functions
// do, but allocate from the arena. Null means out of memory.

redisReply* make_reply(const redisReadTask* task, int type) noexcept {
  auto& arena = *static_cast<ReplyArena*>(task->privdata);
  void* const memory = arena.allocate(sizeof(redisReply));
  if (memory == nullptr) return nullptr;
  auto* const reply = new (memory) redisReply{};
  reply->type = type;
  return reply;
}

void* attach_to_parent(const redisReadTask* task, redisReply* reply) noexcept {
  if (reply != nullptr && task->parent != nullptr) {
    static_cast<redisReply*>(task->parent->obj)->element[task->idx] = reply;
  }
  return reply;
}

/// The copy ends with a NUL that is not counted, like strings of hiredis.
bool copy_text(const redisReadTask* task, redisReply* reply, const char* text,
               std::size_t size) noexcept {
  auto& arena = *static_cast<ReplyArena*>(task->privdata);
  auto* const copy = static_cast<char*>(arena.allocate(size + 1));
  if (copy == nullptr) return false;
  if (size > 0) std::memcpy(copy, text, size);
  copy[size] = '\0';
  reply->str = copy;
  reply->len = size;
  return true;
}

void* make_string(const redisReadTask* task, char* text, std::size_t size) {
  redisReply* const reply = make_reply(task, task->type);
  if (reply == nullptr) return nullptr;
  if (task->type == REDIS_REPLY_VERB) {  // "txt:" precedes the text
    std::memcpy(reply->vtype, text, 3);
    text += 4;
    size -= 4;
  }
  return copy_text(task, reply, text, size) ? attach_to_parent(task, reply) : nullptr;
}

void* make_array(const redisReadTask* task, std::size_t elements) {
  redisReply* const reply = make_reply(task, task->type);
  if (reply == nullptr) return nullptr;
  if (elements > 0) {
    auto& arena = *static_cast<ReplyArena*>(task->privdata);
    if (elements > ReplyReader::most_bytes / sizeof(redisReply*)) return nullptr;
    void* const memory = arena.allocate(elements * sizeof(redisReply*));
    if (memory == nullptr) return nullptr;
    reply->element = static_cast<redisReply**>(memory);
    std::fill_n(reply->element, elements, nullptr);
  }
  reply->elements = elements;
  return attach_to_parent(task, reply);
}

void* make_integer(const redisReadTask* task, long long value) {
  redisReply* const reply = make_reply(task, REDIS_REPLY_INTEGER);
  if (reply != nullptr) reply->integer = value;
  return attach_to_parent(task, reply);
}

void* make_double(const redisReadTask* task, double value, char* text, std::size_t size) {
  redisReply* const reply = make_reply(task, REDIS_REPLY_DOUBLE);
  if (reply == nullptr) return nullptr;
  reply->dval = value;
  return copy_text(task, reply, text, size) ? attach_to_parent(task, reply) : nullptr;
}

void* make_nil(const redisReadTask* task) {
  return attach_to_parent(task, make_reply(task, REDIS_REPLY_NIL));
}

void* make_bool(const redisReadTask* task, int value) {
  redisReply* const reply = make_reply(task, REDIS_REPLY_BOOL);
  if (reply != nullptr) reply->integer = value != 0 ? 1 : 0;
  return attach_to_parent(task, reply);
}

void free_with_arena(void* /*reply*/) {}

redisReplyObjectFunctions functions{
    .createString = make_string,
    .createArray = make_array,
    .createInteger = make_integer,
    .createDouble = make_double,
    .createNil = make_nil,
    .createBool = make_bool,
    .freeObject = free_with_arena,
};

}  // namespace

void ReplyReader::Free::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

ReplyReader::ReplyReader() : arena_(most_bytes) { reset(); }

void ReplyReader::reset() {
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (reader_ == nullptr) throw std::bad_alloc();
  reader_->privdata = &arena_;
  arena_.clear();
}

bool ReplyReader::feed(std::span<const char> bytes) noexcept {
  if (reader_->err != 0) return false;
  if (reader_->len - reader_->pos + bytes.size() > most_bytes) {
    reader_->err = REDIS_ERR_PROTOCOL;
    constexpr std::string_view why = "a reply beyond all measure";
    std::copy(why.begin(), why.end(), reader_->errstr);
    reader_->errstr[why.size()] = '\0';
    return false;
  }
  return redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) == REDIS_OK;
}

const redisReply* ReplyReader::next() noexcept {
  if (reader_->err != 0) return nullptr;
  // The arena may contain the first part of a reply whose bytes have not all arrived.
  if (reader_->ridx == -1) arena_.clear();
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) return nullptr;
  return static_cast<const redisReply*>(reply);
}

std::string_view ReplyReader::error() const noexcept {
  return reader_->err != 0 ? std::string_view(reader_->errstr) : std::string_view();
}

void* ReplyArena::allocate(std::size_t size) noexcept {
  if (size > most_bytes_ - allocated_) return nullptr;
  try {
    void* const memory = memory_.allocate(size, alignof(std::max_align_t));
    allocated_ += size;
    return memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void ReplyArena::clear() noexcept {
  memory_.release();
  allocated_ = 0;
}

}  // namespace latchkey::inline v1::detail::redis
