# Compiles through ccache when it is installed and nobody chose a launcher.
if(debubble_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(debubble_CCACHE ccache)
  mark_as_advanced(debubble_CCACHE)
  if(debubble_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${debubble_CCACHE}")
  endif()
endif()
