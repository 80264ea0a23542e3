# latchkey::mongodb: locks in MongoDB, by libmongoc.
if(NOT PkgConfig_FOUND)
  return()
endif()
pkg_check_modules(latchkey_mongoc QUIET IMPORTED_TARGET libmongoc-1.0>=1.17)
if(NOT TARGET PkgConfig::latchkey_mongoc)
  return()
endif()
set(latchkey_mongodb_folder "${PROJECT_SOURCE_DIR}/src/stores/mongodb")
latchkey_store(mongodb PkgConfig::latchkey_mongoc
  "${latchkey_mongodb_folder}/commands.cpp;${latchkey_mongodb_folder}/bson.cpp;\
${latchkey_mongodb_folder}/client_pool.cpp;${latchkey_mongodb_folder}/failure.cpp;\
${latchkey_mongodb_folder}/lock_document.cpp;${latchkey_mongodb_folder}/lock_operations.cpp;\
${latchkey_mongodb_folder}/mongodb.cpp;${latchkey_mongodb_folder}/mongodb_backend.cpp;\
${latchkey_mongodb_folder}/mongodb_uri.cpp;${latchkey_mongodb_folder}/reader_operations.cpp;\
${latchkey_mongodb_folder}/shedlock_backend.cpp"
  "${PROJECT_SOURCE_DIR}/include/latchkey/mongodb.hpp")
