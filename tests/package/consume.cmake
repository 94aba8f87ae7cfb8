# Builds and runs tests/package/consumer. MODE=installed: against a fresh installation of BUILD_DIR;
# MODE=subfolder: with the source tree as a subfolder. Run by ctest, see CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit code ${result}: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# The prefix is made afresh each time; the consumer's build folder stays, so that a second run has little to compile.
set(work "${WORK_DIR}/${MODE}")
file(REMOVE_RECURSE "${work}/prefix")
set(arguments -G "${GENERATOR}" -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} "-DCMAKE_CXX_FLAGS=${FLAGS}")

if(MODE STREQUAL "installed")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix")
  list(APPEND arguments "-DCMAKE_PREFIX_PATH=${work}/prefix")
else()
  list(APPEND arguments "-DDEBUBBLE_FROM=${SOURCE_DIR}")
endif()

run("${CMAKE_COMMAND}" -S "${CONSUMER_DIR}" -B "${work}/build" ${arguments})
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
if(NOT output STREQUAL "makespan 33 ms\n")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()

if(MODE STREQUAL "installed")
  # Nothing of ours may stand outside include/debubble, and nothing internal inside it.
  file(GLOB include_roots RELATIVE "${work}/prefix/include" "${work}/prefix/include/*")
  if(NOT include_roots STREQUAL "debubble" OR EXISTS "${work}/prefix/include/debubble/tools")
    message(FATAL_ERROR "installed include folders: ${include_roots}")
  endif()
  if(EXISTS "${BUILD_DIR}/bin/debubble")
    run("${work}/prefix/bin/debubble" --version)
  endif()
elseif(EXISTS "${work}/build/debubble/tests")
  message(FATAL_ERROR "a subfolder build makes our tests")
endif()
