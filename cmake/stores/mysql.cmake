# latchkey::mysql: locks in MariaDB or MySQL, by MariaDB's client library.
set(latchkey_mysql_sources
  src/stores/mysql/batch.cpp
  src/stores/mysql/connect_options.cpp
  src/stores/mysql/handshake.cpp
  src/stores/mysql/layout.cpp
  src/stores/mysql/mysql_client.cpp
  src/stores/mysql/mysql_connection.cpp
  src/stores/mysql/mysql_uri.cpp
  src/stores/mysql/own_administration.cpp
  src/stores/mysql/own_layout.cpp
  src/stores/mysql/own_permits.cpp
  src/stores/mysql/register_mysql.cpp
  src/stores/mysql/session_settings.cpp
  src/stores/mysql/shedlock_layout.cpp
  "${LATCHKEY_MYSQL_DDL_SOURCE}")
latchkey_store(mysql "${latchkey_mysql_sources}" include/latchkey/mysql.hpp)
