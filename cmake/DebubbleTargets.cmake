# How a target of ours is made. One way for all of them, so that warnings, sanitizers, header checks and install rules
# cannot be forgotten.

# What every target of ours gets, executables included.
function(debubble_configure_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # A prediction is the same bytes on every machine. Where a processor has fused multiply-adds (aarch64 always has), a
  # compiler may round a * b + c once instead of twice, so it is told not to. Fast products come from OpenBLAS and CUDA,
  # which are compiled elsewhere.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  # Our static libraries are parts of programs and of shared objects alike (the plugins, the injection library, Python's
  # module), so they are compiled once, for both; without interposition that costs the programs nothing.
  if(NOT debubble_PLAYGROUND)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fno-semantic-interposition>)
  endif()
  # BUILD_INTERFACE keeps these two out of the exported package.
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:debubble_warnings> $<BUILD_INTERFACE:debubble_sanitizers>)
endfunction()

# Some headers cost more than most of our sources, so that many sources are compiled as one. Nothing but time depends on
# it: file-local names are unique (tests/layers/check_locals.py).
function(debubble_compile_together target)
  # So many that one edit is compiled in seconds; twice as many where nobody edits take a tenth less time as a whole.
  set(batch 48)
  if(debubble_QUICK)
    set(batch 96)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${debubble_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
  # GCC starts to collect its garbage at 128 MB, which so many sources soon fill: 8 % of the time (g++ 12).
  if(debubble_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=800000)
  endif()
endfunction()

# For code whose own speed nobody notices.
function(debubble_optimise_lightly target)
  separate_arguments(flags UNIX_COMMAND "${debubble_chosen_light_flags}")
  target_compile_options(${target} PRIVATE ${flags})
endfunction()

# debubble_add_library(core SOURCES a.cpp ... HEADERS a.hpp ... [PUBLIC libs...] [PRIVATE libs...] [INTERNAL]
#                      [FAST])
#
# Makes the static library debubble_core with the alias debubble::core. Every header listed must compile alone. One with a
# source of its own is that source's first line (tests/layers/check_layers.py), which shows it where sources are compiled
# one by one (the presets dev and clang, the machine `clang` of tests/fresh); the test `headers` compiles the others.
# PRIVATE libraries must be header-only: they are used while compiling and leave no trace in the
# exported package. INTERNAL libraries are not installed. All but FAST ones are compiled with debubble_LIGHT_FLAGS.
function(debubble_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL;FAST" "" "SOURCES;HEADERS;PUBLIC;PRIVATE")
  if(debubble_PLAYGROUND)
    foreach(list SOURCES HEADERS)
      debubble_leave_out(${name} arg_${list})
    endforeach()
    foreach(list PUBLIC PRIVATE)  # of other libraries there are no targets
      list(FILTER arg_${list} EXCLUDE REGEX "^debubble::(trace_importers|hooks_file|ranks|measurement|live_.*)$|^(TBB|simdjson|SQLite|yaml-cpp)::")
    endforeach()
  endif()
  set(target debubble_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(debubble::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  set(of_source "")
  set(alone "")
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "\\.hpp$" ".cpp" source "${header}")
    if(source IN_LIST arg_SOURCES)
      list(APPEND of_source "${header}")
    else()
      list(APPEND alone "${header}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY alone)
  set(install_headers "")
  foreach(set of_source alone)
    target_sources(${target} PUBLIC FILE_SET ${set} TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${${set}})
    list(APPEND install_headers FILE_SET ${set} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/debubble COMPONENT development)
  endforeach()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC})
  foreach(library IN LISTS arg_PRIVATE)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  debubble_configure_target(${target})
  debubble_compile_together(${target})
  if(NOT arg_FAST)
    debubble_optimise_lightly(${target})
  endif()
  if(debubble_INSTALL AND NOT arg_INTERNAL)
    install(TARGETS ${target} EXPORT debubbleTargets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
      ${install_headers})
  endif()
endfunction()
