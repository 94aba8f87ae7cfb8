# debubble_warnings: an interface target that our own targets link privately, so that neither our warnings nor our
# -Werror reach a project that embeds us.
add_library(debubble_warnings INTERFACE)
target_compile_options(debubble_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wsign-conversion;-Wnon-virtual-dtor;-Woverloaded-virtual;-Wswitch-enum>
  # Sources that are compiled together are global to each other: there GCC asks local names only, and clang
  # nothing. A State of a .cpp file may hold types of that file.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<AND:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<CXX_COMPILER_ID:GNU>>:-Wshadow=local;-Wno-subobject-linkage>
  # Clang only: GCC's version follows inlined library code (CLI11, streambuf) into branches that cannot happen. What it
  # would find in our own code, the analyzer of the tidy preset finds.
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wnull-dereference>)
# GCC 12 sees overlaps in `"text" + string` that are not there (its bug 105651, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(debubble_warnings INTERFACE -Wno-restrict)
endif()
if(debubble_WERROR AND debubble_IS_TOP_LEVEL)
  target_compile_options(debubble_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Werror>)
endif()
