# latchkey::mysql: locks in MariaDB or MySQL, by MariaDB's client library.
set(latchkey_mysql_sources
  src/stores/mysql/batch.cpp
  src/stores/mysql/client.cpp
  src/stores/mysql/connect_options.cpp
  src/stores/mysql/connection.cpp
  src/stores/mysql/handshake.cpp
  src/stores/mysql/layout.cpp
  src/stores/mysql/native_layout.cpp
  src/stores/mysql/native_outcome.cpp
  src/stores/mysql/register.cpp
  src/stores/mysql/session_settings.cpp
  src/stores/mysql/shedlock_layout.cpp
  src/stores/mysql/uri.cpp
  "${LATCHKEY_MYSQL_DDL_SOURCE}")
latchkey_store(mysql "${latchkey_mysql_sources}" include/latchkey/mysql.hpp)
