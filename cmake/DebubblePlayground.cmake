# What differs where the compiler makes WebAssembly for the playground (tools/playground/build): libraries are their headers
# only, and what a browser has no use for is left out, live runs, recordings of other tools and threads above all.

# LIBRARY:SOURCE of debubble_add_library, and what stands for it in tools/playground/engine where something does.
set(debubble_LEFT_OUT
  "files:files/(sqlite_file|tar)\\."
  "files:importers/(clock_alignment|imported_run|kineto|recovery|runs)"
  "files:frameworks/(accelerate|config_tree|deepspeed|framework|megatron|nanotron|nemo|neox|text_trees|toml|torchtitan_config|tree|yaml)"
  "files:megatron/"
  "files:shell/"
  "studies:(accuracy|check|diff|hardware|live|measure|sweep)/"
  "studies:plan/([^f]|f[^r]|fro)"                               # all but framework_*
  "studies:parallel\\.cpp"                                      # serial.cpp
  "studies:runs/(open_run|recognise|imported_record|levels)\\."  # left_out.cpp
  "tools_lib:.*page_shell\\."
  "tools_lib:commands/(accuracy|catalog|check|diff|doctor|import.*|live|plan|profile|sweep|trace)\\."  # verbs.cpp
  "tools_lib:(doctor|profile)/"
  "tools_lib:output/stderr_progress\\.cpp"                  # serial.cpp
  "tools_lib:views/(accuracy|check|diff|plan|sweep)/"
  "tools_lib:views/(live_view|profile_table)\\."
  "tools_lib:views/html/page\\.cpp")                            # page_file.cpp

# debubble_leave_out(LIBRARY VARIABLE): takes out of the list of files what LIBRARY goes without.
function(debubble_leave_out library variable)
  set(kept "")
  foreach(file IN LISTS ${variable})
    set(keep ON)
    foreach(pattern IN LISTS debubble_LEFT_OUT)
      if("${library}:${file}" MATCHES "^${pattern}")
        set(keep OFF)
      endif()
    endforeach()
    if(keep)
      list(APPEND kept "${file}")
    endif()
  endforeach()
  set(${variable} "${kept}" PARENT_SCOPE)
endfunction()

# The headers of an installed package, by themselves: /usr/include has the C library's beside them.
function(debubble_headers target package)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set(folder "${PROJECT_BINARY_DIR}/headers/${package}")
  file(MAKE_DIRECTORY "${folder}")
  foreach(item IN LISTS ARGN)
    set(found "/usr/local/include/${item}")
    if(NOT EXISTS "${found}")
      set(found "/usr/include/${item}")
    endif()
    if(NOT EXISTS "${found}")
      message(FATAL_ERROR "missing: /usr/include/${item}\nInstall what debubble needs:\n    apt-get install ${package}")
    endif()
    file(CREATE_LINK "${found}" "${folder}/${item}" SYMBOLIC)
  endforeach()
  target_include_directories(${target} SYSTEM INTERFACE "${folder}")
endfunction()

debubble_headers(nlohmann_json::nlohmann_json nlohmann-json3-dev nlohmann)
debubble_headers(CLI11::CLI11 libcli11-dev CLI)
debubble_headers(fmt::fmt libfmt-dev fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
debubble_headers(ZLIB::ZLIB zlib1g-dev zlib.h zconf.h)

# WebAssembly's own exceptions, which browsers have had since 2022: through JavaScript, every call that may throw crosses
# a border, and a change of the page took a quarter longer.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-fwasm-exceptions -include "${PROJECT_SOURCE_DIR}/tools/playground/engine/missing_cxx.hpp")
add_link_options(-fwasm-exceptions)
