# Programs in Go, which Go builds from their modules. LATCHKEY_GO is Go, if it is at hand.
include_guard(GLOBAL)
find_program(LATCHKEY_GO go HINTS /usr/local/go/bin)

# The flags of all programs, also of those that tests build, so that Go compiles what they share once: without
# what a debugger reads, which takes a fifth of the time.
set(LATCHKEY_GOFLAGS "-mod=readonly -ldflags=-w -gcflags=all=-dwarf=false" CACHE INTERNAL "")

# latchkey_go_program(<target> <program> <folder>): a target that builds the program in that folder.
function(latchkey_go_program target program folder)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.go" "${folder}/go.mod" "${folder}/go.sum")
  add_custom_command(OUTPUT "${program}"
    COMMAND ${CMAKE_COMMAND} -E env "GOFLAGS=${LATCHKEY_GOFLAGS}" "${LATCHKEY_GO}" build -o "${program}" .
    WORKING_DIRECTORY "${folder}"
    DEPENDS ${sources}
    COMMENT "Building ${target} with Go" VERBATIM)
  add_custom_target(${target} DEPENDS "${program}")
endfunction()
