# debubble_say_python_modules(yaml torch ...)
#
# Says which Python runs the tests, which of the modules it lacks, and how to install them there. Tests that need one are
# skipped without.
function(debubble_say_python_modules)
  set(code "import importlib.util, sys; print(*(m for m in sys.argv[1:] if not importlib.util.find_spec(m)), sep=', ')")
  execute_process(COMMAND "${Python3_EXECUTABLE}" -c "${code}" ${ARGN}
    OUTPUT_VARIABLE missing OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(text "tests are run by Python ${Python3_VERSION}, ${Python3_EXECUTABLE}")
  if(missing)
    string(REPLACE "," "" modules "${missing}")
    set(install "${Python3_EXECUTABLE} -m pip install ${modules}")
    if(Python3_EXECUTABLE STREQUAL debubble_SYSTEM_PYTHON)
      string(REGEX REPLACE "(^|, )" " python3-" packages "${missing}")
      set(install "apt-get install${packages}")
    endif()
    string(APPEND text ", which has no ${missing}: tests of these are skipped (${install})")
  endif()
  message(NOTICE "${text}")
endfunction()

# Limits of time are those of a build without sanitizers, whose programs take several times as long.
set(debubble_patience 1)
if(debubble_SANITIZE)
  set(debubble_patience 4)
endif()

# debubble_limit_mpi("mpirun: plans" SECONDS)
#
# For tests by mpirun, with several ranks on few cores: nothing else should run beside them, and what they start has the
# same patience (tests/support/mpirun.py).
function(debubble_limit_mpi test seconds)
  math(EXPR limit "${debubble_patience} * ${seconds}")
  set_tests_properties("${test}" PROPERTIES
    LABELS mpi TIMEOUT ${limit} PROCESSORS 2 ENVIRONMENT DEBUBBLE_PATIENCE=${debubble_patience})
endfunction()

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
  math(EXPR arg_TIMEOUT "${debubble_patience} * ${arg_TIMEOUT}")
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE debubble_doctest_main debubble_test_places doctest::doctest ${arg_LIBS})
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  debubble_configure_target(${arg_NAME})
  debubble_compile_together(${arg_NAME})
  debubble_optimise_lightly(${arg_NAME})
  # For tools/lib/choose_tests.py.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests" OUTPUT_VARIABLE folder)
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  set_property(GLOBAL APPEND_STRING PROPERTY debubble_TEST_SOURCES "${arg_NAME};${folder};${arg_SOURCES}\n")
  doctest_discover_tests(${arg_NAME}
    TEST_PREFIX "${arg_NAME}: "
    PROPERTIES LABELS ${area} TIMEOUT ${arg_TIMEOUT} SKIP_REGULAR_EXPRESSION "SKIPPED:"
               FAIL_REGULAR_EXPRESSION "test cases: *0 ")
endfunction()

# debubble_add_transcripts()
#
# A test for each transcript of the folder (tests/docs/transcript.py), labelled with it.
function(debubble_add_transcripts)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME area)
  file(GLOB transcripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.transcript")
  foreach(transcript IN LISTS transcripts)
    cmake_path(GET transcript STEM name)
    add_test(NAME "transcript: ${area}/${name}"
      COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/docs/run_blocks.py"
              --binary "${PROJECT_BINARY_DIR}/bin/debubble" "${transcript}")
    math(EXPR limit "${debubble_patience} * 600")
    set_tests_properties("transcript: ${area}/${name}" PROPERTIES
      LABELS ${area} TIMEOUT ${limit} ENVIRONMENT DEBUBBLE_PATIENCE=${debubble_patience})
  endforeach()
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
