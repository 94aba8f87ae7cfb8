# debubble_sanitizers: an interface target, empty unless debubble_SANITIZE names sanitizers. A finding ends the program
# (no recovery), so that a test cannot pass in spite of one.
add_library(debubble_sanitizers INTERFACE)
set(debubble_sanitizer_flags "")
if(debubble_SANITIZE)
  set(debubble_sanitizer_flags -fsanitize=${debubble_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(debubble_sanitizers INTERFACE ${debubble_sanitizer_flags})
  target_link_options(debubble_sanitizers INTERFACE ${debubble_sanitizer_flags})
endif()
# While it sanitizes, g++ 12 sees an uninitialised std::function inside std::regex (GCC bug 105562).
if(debubble_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(debubble_sanitizers INTERFACE -Wno-maybe-uninitialized)
endif()
if(debubble_FUZZ)
  target_compile_options(debubble_sanitizers INTERFACE -fsanitize=fuzzer-no-link)  # coverage, which guides libFuzzer
endif()
