# The C++ library inside what we link, so that it runs where the system's is older than the compiler's, or where a program
# into which we are loaded has brought another one.
#
# What is linked this way needs no symbol newer than glibc 2.34 (RHEL 9; Ubuntu 22.04 has 2.35), provided that it was
# compiled against a glibc before 2.38, whose headers rename strtol and others. Debian 12 has 2.36. Two things that Debian
# 12's static libraries would ask for are avoided:
#
# - arc4random, new in 2.36: libstdc++.a has std::random_device in one object with parts that every program needs. Nothing
#   of ours draws from it. cmake/package/arc4random.cpp is a private definition, which the linker finds first.
# - _dl_find_object, new in 2.35: libgcc_eh.a, the unwinder. So libgcc_s stays shared: glibc itself depends on it on every
#   distribution, its interface has been stable since GCC 4, and a process should have one unwinder only.
#
# tests/fresh/package.py looks at the symbols with objdump.
function(debubble_link_cxx_statically target)
  if(debubble_SANITIZE)
    return()  # sanitizers need the shared one
  endif()
  if(NOT TARGET debubble_arc4random)
    add_library(debubble_arc4random OBJECT "${PROJECT_SOURCE_DIR}/cmake/package/arc4random.cpp")
    debubble_configure_target(debubble_arc4random)
    set_target_properties(debubble_arc4random PROPERTIES CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:debubble_arc4random>)
  target_link_options(${target} PRIVATE -static-libstdc++)
endfunction()
