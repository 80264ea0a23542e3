# FerretDB, which speaks MongoDB's protocol: Debian has no MongoDB server. Defines the target
# latchkey_ferretdb and LATCHKEY_FERRETDB, its program; neither without Go.
include(GoProgram)
if(LATCHKEY_GO)
  set(LATCHKEY_FERRETDB "${PROJECT_BINARY_DIR}/latchkey-ferretdb")
  if(NOT TARGET latchkey_ferretdb)
    latchkey_go_program(latchkey_ferretdb "${LATCHKEY_FERRETDB}"
      "${PROJECT_SOURCE_DIR}/tests/stores/mongodb/ferretdb")
  endif()
endif()
