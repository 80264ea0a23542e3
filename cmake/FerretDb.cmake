# FerretDB, which speaks MongoDB's protocol: Debian has no MongoDB server. Go builds it from its
# modules. Defines the target latchkey_ferretdb and LATCHKEY_FERRETDB, its program; neither without Go.
find_program(LATCHKEY_GO go HINTS /usr/local/go/bin)
if(LATCHKEY_GO)
  set(LATCHKEY_FERRETDB "${PROJECT_BINARY_DIR}/latchkey-ferretdb")
  if(NOT TARGET latchkey_ferretdb)
    set(source "${PROJECT_SOURCE_DIR}/tests/stores/mongodb/ferretdb")
    add_custom_command(OUTPUT "${LATCHKEY_FERRETDB}"
      COMMAND ${CMAKE_COMMAND} -E env GOFLAGS=-mod=readonly
        "${LATCHKEY_GO}" build -o "${LATCHKEY_FERRETDB}" .
      WORKING_DIRECTORY "${source}"
      DEPENDS "${source}/main.go" "${source}/go.mod" "${source}/go.sum"
      COMMENT "Building FerretDB" VERBATIM)
    add_custom_target(latchkey_ferretdb DEPENDS "${LATCHKEY_FERRETDB}")
  endif()
endif()
