// One half of a program with two hiredis: the system's, under its own names.
#include <hiredis/hiredis.h>

extern "C" int system_hiredis_version() {
  redisReader* reader = redisReaderCreate();
  if (reader == nullptr) return -1;
  redisReaderFree(reader);
  return HIREDIS_MAJOR * 100 + HIREDIS_MINOR;
}
