# The libraries we use: the installed package first, a pinned download second, one clear message when neither works.
#
# The pinned archives are the sources from which Debian 12 builds its packages, so a download is the same version as an
# installation there. Their SHA-256 sums are those in Debian's signed .dsc files.
include(DebubbleDependency)

set(debubble_APT_LINE
  "apt-get install nlohmann-json3-dev libsimdjson-dev libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev libcli11-dev libfmt-dev libtbb-dev doctest-dev libbenchmark-dev zlib1g-dev")

# Packages carry these inside, compiled from the pinned archives: their shared libraries have another name in each release
# of each distribution, and neither Debian nor Ubuntu has static ones.
if(debubble_PACKAGE AND NOT debubble_PACKAGE MATCHES "^(TGZ|DEB)$")
  message(FATAL_ERROR "debubble_PACKAGE is \"${debubble_PACKAGE}\"; it must be TGZ, DEB or empty")
endif()
set(debubble_CARRIED "")
if(debubble_PACKAGE)
  set(debubble_CARRIED simdjson yaml-cpp fmt TBB)
  set(debubble_STATIC_CXX ON)
endif()

# Has an imported target stand for the static library of the same development package. Headers stay the same, so that
# nothing is compiled anew.
function(debubble_take_static_library target name)
  find_library(debubble_STATIC_${name} lib${name}.a REQUIRED)
  mark_as_advanced(debubble_STATIC_${name})
  foreach(suffix "" _RELEASE _DEBUG)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION${suffix} "${debubble_STATIC_${name}}")
  endforeach()
endfunction()

set(JSON_BuildTests OFF)
set(JSON_SystemInclude ON)
debubble_dependency(nlohmann_json 3.11 nlohmann_json::nlohmann_json
  n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
if(debubble_TOOLS OR debubble_TESTS)
  # As a subproject TBB makes a shared library unless told otherwise, which our command would have to carry along. In the
  # cache, since its CMakeLists.txt is of the time when option() overrode variables.
  set(BUILD_SHARED_LIBS OFF)
  debubble_dependency(simdjson 3.0 simdjson::simdjson
    s/simdjson/simdjson_3.0.1.orig.tar.gz
    156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed)
  debubble_dependency(tomlplusplus 3.0 tomlplusplus::tomlplusplus
    t/tomlplusplus/tomlplusplus_3.3.0+ds.orig.tar.xz
    a143f15016090d88d72e018632efa43b1124bb62285d8c72d51d0cdb45ad787b)
  set(YAML_CPP_BUILD_TOOLS OFF CACHE INTERNAL "")
  set(YAML_CPP_BUILD_CONTRIB OFF CACHE INTERNAL "")
  set(YAML_CPP_INSTALL OFF CACHE INTERNAL "")
  debubble_dependency(yaml-cpp 0.7 yaml-cpp::yaml-cpp
    y/yaml-cpp/yaml-cpp_0.7.0+dfsg.orig.tar.xz
    dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312)
  debubble_dependency(CLI11 2.1 CLI11::CLI11
    c/cli11/cli11_2.1.2+ds.orig.tar.xz
    8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d)
  debubble_dependency(fmt 9 fmt::fmt
    f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz
    84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583)
  set(TBB_TEST OFF CACHE INTERNAL "")
  set(TBB_STRICT OFF CACHE INTERNAL "")
  set(TBBMALLOC_BUILD OFF CACHE INTERNAL "")
  debubble_dependency(TBB 2021 TBB::tbb
    o/onetbb/onetbb_2021.8.0.orig.tar.xz
    7e9111b8bb59c8800bf6d0b06afe7b0891937443d2dae1ee1101c8e2ede6a7ef)
  unset(BUILD_SHARED_LIBS)
  # Its allocator, in place of the C library's in our commands: threads that free what others allocated wait for one
  # another there (a tenth of a plan's time). Sanitizers have an allocator of their own.
  add_library(debubble_allocator INTERFACE)
  if(TARGET TBB::tbbmalloc_proxy AND NOT debubble_SANITIZE AND NOT debubble_FUZZ)
    target_link_libraries(debubble_allocator INTERFACE -Wl,--push-state,--no-as-needed TBB::tbbmalloc_proxy
      -Wl,--pop-state)
  endif()
  # Never downloaded: every system packages these two. CMake's modules for them create the target only when all of the
  # package was found (FindMPI does not: see DebubbleMpi.cmake), and so do the configuration files of those above.
  find_package(ZLIB QUIET)
  if(TARGET ZLIB::ZLIB)
    list(APPEND debubble_DEPENDENCY_SUMMARY "zlib installed ${ZLIB_VERSION_STRING}")
  else()
    list(APPEND debubble_MISSING "zlib")
  endif()
  find_package(SQLite3 3.34 QUIET)
  if(debubble_PACKAGE STREQUAL "TGZ")
    debubble_take_static_library(ZLIB::ZLIB z)
    debubble_take_static_library(SQLite::SQLite3 sqlite3)
  endif()
  if(TARGET SQLite::SQLite3)
    list(APPEND debubble_DEPENDENCY_SUMMARY "sqlite installed ${SQLite3_VERSION}")
  elseif(SQLite3_VERSION)
    string(APPEND debubble_NOT_TAKEN "\n    sqlite ${SQLite3_VERSION} in ${SQLite3_INCLUDE_DIR} is older than 3.34")
  else()
    list(APPEND debubble_MISSING "sqlite >= 3.34")
  endif()
endif()
if(debubble_TESTS)
  debubble_dependency(doctest 2.4.9 doctest::doctest
    d/doctest/doctest_2.4.9~ds.orig.tar.xz
    7cc78169975bea36e70ab9d67e7de9b03d89b38653499ad03243e3944429b1ab)
  if(doctest_SOURCE_DIR)
    list(APPEND CMAKE_MODULE_PATH "${doctest_SOURCE_DIR}/scripts/cmake")  # an installed doctest does this by itself
  endif()
  include(doctest OPTIONAL)  # doctest_discover_tests
endif()
if(debubble_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  set(BENCHMARK_ENABLE_WERROR OFF)
  set(debubble_needed_missing "${debubble_MISSING}")
  set(debubble_needed_not_taken "${debubble_NOT_TAKEN}")
  debubble_dependency(benchmark 1.7 benchmark::benchmark
    b/benchmark/benchmark_1.7.1.orig.tar.gz
    6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
  # Without it only the benchmarks are left out.
  set(debubble_MISSING "${debubble_needed_missing}")
  set(debubble_NOT_TAKEN "${debubble_needed_not_taken}")
endif()

find_package(Threads REQUIRED)

list(JOIN debubble_DEPENDENCY_SUMMARY ", " debubble_DEPENDENCY_SUMMARY)
debubble_demand_all()
