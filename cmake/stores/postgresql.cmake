# latchkey::postgresql: locks in a PostgreSQL database, by libpq (14 or later: pipeline mode).
set(latchkey_postgresql_sources
  src/stores/postgresql/batch.cpp
  src/stores/postgresql/client.cpp
  src/stores/postgresql/connect_failure.cpp
  src/stores/postgresql/connection.cpp
  src/stores/postgresql/connection_start.cpp
  src/stores/postgresql/glob_expression.cpp
  src/stores/postgresql/layout.cpp
  src/stores/postgresql/native_layout.cpp
  src/stores/postgresql/native_outcome.cpp
  src/stores/postgresql/register.cpp
  src/stores/postgresql/session_settings.cpp
  src/stores/postgresql/shedlock_layout.cpp
  src/stores/postgresql/subscriptions.cpp
  src/stores/postgresql/transaction_lock.cpp
  src/stores/postgresql/uri.cpp
  "${LATCHKEY_POSTGRESQL_DDL_SOURCE}")
latchkey_store(postgresql "${latchkey_postgresql_sources}"
  "include/latchkey/postgresql.hpp;include/latchkey/postgresql/transaction_lock.hpp")
