// The other half: latchkey's hiredis, under latchkey's names, with RESP3.
#include <latchkey_hiredis/hiredis.h>
#include <cstdio>

extern "C" int system_hiredis_version();

int main() {
  redisReader* reader = redisReaderCreate();
  const char push[] = ">2\r\n+message\r\n+free\r\n";
  void* raw = nullptr;
  bool works = reader != nullptr && redisReaderFeed(reader, push, sizeof push - 1) == REDIS_OK &&
               redisReaderGetReply(reader, &raw) == REDIS_OK && raw != nullptr;
  works = works && static_cast<redisReply*>(raw)->type == REDIS_REPLY_PUSH;
  if (raw != nullptr) freeReplyObject(raw);
  redisReaderFree(reader);
  const int ours = HIREDIS_MAJOR * 100 + HIREDIS_MINOR;
  const int theirs = system_hiredis_version();
  std::printf("latchkey's hiredis %d, the system's %d\n", ours, theirs);
  return works && ours >= 101 && theirs >= 0 ? 0 : 1;
}
