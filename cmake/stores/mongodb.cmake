# latchkey::mongodb: locks in MongoDB, by libmongoc.
set(latchkey_mongodb_sources
  src/stores/mongodb/bson.cpp
  src/stores/mongodb/client_pool.cpp
  src/stores/mongodb/commands.cpp
  src/stores/mongodb/failure.cpp
  src/stores/mongodb/lock_document.cpp
  src/stores/mongodb/lock_operations.cpp
  src/stores/mongodb/mongodb_backend.cpp
  src/stores/mongodb/register.cpp
  src/stores/mongodb/shedlock_backend.cpp
  src/stores/mongodb/uri.cpp)
latchkey_store(mongodb "${latchkey_mongodb_sources}" include/latchkey/mongodb.hpp)
