# NVIDIA's libraries and headers, where tools/lib/witnesses.sh has put them: the newest release, and the oldest that we
# promise to work with. Empty where they are not, and tests that want them are skipped.
set(debubble_WITNESSES "${PROJECT_SOURCE_DIR}/build/witness" CACHE PATH "What tools/lib/witnesses.sh has made")
mark_as_advanced(debubble_WITNESSES)
file(GLOB debubble_witness_newest "${debubble_WITNESSES}/lib/python3*/site-packages/nvidia")
file(GLOB debubble_witness_oldest "${debubble_WITNESSES}/oldest/nvidia")
if(NOT EXISTS "${debubble_WITNESSES}/complete")
  set(debubble_witness_newest "")
  set(debubble_witness_oldest "")
endif()
foreach(release newest oldest)
  set(folder "${debubble_witness_${release}}")
  if(folder)
    file(GLOB debubble_witness_${release}_headers "${folder}/*/include" "${folder}/*/extras/CUPTI/include")
  endif()
endforeach()

set(sanitized "")
if(debubble_SANITIZE)  # a list of names: no generator expression takes it
  set(sanitized DEBUBBLE_SANITIZED)
endif()
add_library(debubble_witness INTERFACE)
target_include_directories(debubble_witness INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(debubble_witness INTERFACE
  DEBUBBLE_WITNESS_NEWEST="${debubble_witness_newest}" DEBUBBLE_WITNESS_OLDEST="${debubble_witness_oldest}" ${sanitized})

# debubble_add_witnessed_tests(NAME cuda_abi SOURCES cuda_abi_test.cpp [LIBS ...])
#
# debubble_add_tests with the headers of each release: cuda_abi_newest and cuda_abi_oldest.
function(debubble_add_witnessed_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LIBS")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME area)
  foreach(release newest oldest)
    set(name ${arg_NAME}_${release})
    if(debubble_witness_${release})
      debubble_add_tests(NAME ${name} SOURCES ${arg_SOURCES} LIBS ${arg_LIBS})
      target_include_directories(${name} SYSTEM PRIVATE ${debubble_witness_${release}_headers})
    else()
      add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo
        "SKIPPED: no headers of NVIDIA's: DEBUBBLE_WITNESSES=1 tools/test gets them")
      set_tests_properties(${name} PROPERTIES LABELS ${area} SKIP_REGULAR_EXPRESSION "SKIPPED:")
    endif()
  endforeach()
endfunction()
