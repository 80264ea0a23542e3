// RedisClient: a minimal Redis client.
#include "support/servers/redis_client.hpp"

#include <fcntl.h>

#include <stdexcept>

#include "redis/protocol/command_buffer.hpp"

namespace latchkey::tests {
namespace {

constexpr std::chrono::seconds usual_patience{10};

timeval as_timeval(std::chrono::milliseconds time) {
  return {time.count() / 1000, (time.count() % 1000) * 1000};
}

void append_texts(const redisReply& reply, std::vector<std::string>& texts) {
  for (std::size_t at = 0; at < reply.elements; ++at) {
    const redisReply& element = *reply.element[at];
    if (element.type == REDIS_REPLY_ARRAY) {
      append_texts(element, texts);
    } else if (element.type == REDIS_REPLY_INTEGER) {
      texts.push_back(std::to_string(element.integer));
    } else {
      texts.emplace_back(element.str == nullptr ? "" : element.str, element.len);
    }
  }
}

}  // namespace

std::string Reply::text() const {
  if (reply_->type == REDIS_REPLY_INTEGER) return std::to_string(reply_->integer);
  return reply_->str == nullptr ? std::string() : std::string(reply_->str, reply_->len);
}

std::vector<std::string> Reply::list() const {
  std::vector<std::string> texts;
  append_texts(*reply_, texts);
  return texts;
}

RedisClient::RedisClient(redisContext* context) : context_(context) {
  if (context_ == nullptr) throw std::runtime_error("no memory for a connection");
  if (context_->err != 0) throw std::runtime_error(context_->errstr);
  // A program that is started meanwhile would keep the connection open.
  ::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
  set_patience(usual_patience);
}

RedisClient RedisClient::unix_socket(const std::string& path) {
  return RedisClient(redisConnectUnixWithTimeout(path.c_str(), as_timeval(usual_patience)));
}

RedisClient RedisClient::tcp(const std::string& host, std::uint16_t port) {
  return RedisClient(redisConnectWithTimeout(host.c_str(), port, as_timeval(usual_patience)));
}

void RedisClient::set_patience(std::chrono::milliseconds patience) {
  redisSetTimeout(context_.get(), as_timeval(patience));
}

Reply RedisClient::operator()(std::initializer_list<std::string_view> words) {
  detail::redis::CommandBuffer buffer;
  buffer.command(words);
  return send(buffer.bytes());
}

long long RedisClient::calls(std::string_view command) {
  const std::string text = (*this)({"INFO", "commandstats"}).text();
  const std::string label = "cmdstat_" + std::string(command) + ":calls=";
  const std::size_t at = text.find(label);
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + label.size()));
}

Reply RedisClient::send(std::string_view command) {
  redisAppendFormattedCommand(context_.get(), command.data(), command.size());
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
    throw std::runtime_error(context_->errstr);
  }
  return Reply(static_cast<redisReply*>(reply));
}

std::optional<Reply> RedisClient::receive(std::chrono::milliseconds patience) {
  set_patience(patience);
  void* reply = nullptr;
  const int result = redisGetReply(context_.get(), &reply);
  const bool silent = result != REDIS_OK && context_->err == REDIS_ERR_IO && errno == EAGAIN;
  if (result != REDIS_OK && !silent) throw std::runtime_error(context_->errstr);
  if (silent) {
    context_->err = 0;  // nothing was read, so the connection still works
    context_->errstr[0] = '\0';
  }
  set_patience(usual_patience);
  if (silent) return std::nullopt;
  return Reply(static_cast<redisReply*>(reply));
}

}  // namespace latchkey::tests
