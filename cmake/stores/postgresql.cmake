# latchkey::postgresql: locks in a PostgreSQL database, by libpq (14 or later: pipeline mode).
set(latchkey_postgresql_sources
  src/stores/postgresql/batch.cpp
  src/stores/postgresql/connect_failure.cpp
  src/stores/postgresql/layout.cpp
  src/stores/postgresql/own_administration.cpp
  src/stores/postgresql/own_layout.cpp
  src/stores/postgresql/own_permits.cpp
  src/stores/postgresql/postgresql.cpp
  src/stores/postgresql/postgresql_client.cpp
  src/stores/postgresql/postgresql_uri.cpp
  src/stores/postgresql/session.cpp
  src/stores/postgresql/session_settings.cpp
  src/stores/postgresql/session_start.cpp
  src/stores/postgresql/shedlock_layout.cpp
  src/stores/postgresql/subscriptions.cpp
  "${LATCHKEY_POSTGRESQL_DDL_SOURCE}")
latchkey_store(postgresql "${latchkey_postgresql_sources}" include/latchkey/postgresql.hpp)
