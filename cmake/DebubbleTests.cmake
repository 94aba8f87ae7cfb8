# debubble_add_tests(NAME units_test SOURCES units_test.cpp ... [LIBS debubble::core ...] [TIMEOUT seconds])
#
# Makes one doctest binary and registers each of its cases with ctest as "<name>: <case>", labelled with the folder it
# is in. Cases find files and the command through tests/support/places.hpp. A case that prints "SKIPPED:" counts as
# skipped; one that runs no test at all counts as failed.
function(debubble_add_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;LIBS")
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME area)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE debubble_doctest_main debubble_test_places doctest::doctest ${arg_LIBS})
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  debubble_configure_target(${arg_NAME})
  debubble_compile_together(${arg_NAME})
  debubble_optimise_lightly(${arg_NAME})
  if(TARGET debubble)
    add_dependencies(${arg_NAME} debubble)
  endif()
  doctest_discover_tests(${arg_NAME}
    TEST_PREFIX "${arg_NAME}: "
    PROPERTIES LABELS ${area} TIMEOUT ${arg_TIMEOUT} SKIP_REGULAR_EXPRESSION "SKIPPED:"
               FAIL_REGULAR_EXPRESSION "test cases: *0 ")
endfunction()

# debubble_add_fuzzer(NAME profile SOURCE profile_fuzz.cpp [LIBS debubble::formats ...])
#
# With debubble_FUZZ: the libFuzzer binary fuzz_<name>. Without: the same entry point behind a main that replays every
# file of corpus/<name>/, as an ordinary test, so that what a fuzzer once found stays found on every machine.
function(debubble_add_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SOURCE" "LIBS")
  set(target fuzz_${arg_NAME})
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${arg_NAME}")
  add_executable(${target} ${arg_SOURCE})
  target_link_libraries(${target} PRIVATE ${arg_LIBS})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  debubble_configure_target(${target})
  if(debubble_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${target} COMMAND ${target} -runs=0 "${corpus}")
  else()
    target_link_libraries(${target} PRIVATE debubble_fuzz_replay)
    add_test(NAME ${target} COMMAND ${target} "${corpus}")
  endif()
  set_tests_properties(${target} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
