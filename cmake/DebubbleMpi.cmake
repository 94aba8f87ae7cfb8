# Whether MPI is at hand. Only the plugin libdebubble_mpi.so links it (live/mpi), so the same command serves machines
# with and without MPI.
#
# Sets debubble_MPI_FOUND, and debubble_MPI_PROBLEM to what is missing when only a part of MPI is installed.
set(debubble_MPI_FOUND OFF)
set(debubble_MPI_PROBLEM "")
if(NOT debubble_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "debubble_MPI is \"${debubble_MPI}\"; it must be AUTO, ON or OFF")
endif()

# Says in `result` which parts of MPI are installed and which are not; "" when none is.
function(debubble_describe_partial_mpi result)
  # FindMPI asks the compiler wrapper for the library, so without a wrapper it knows of none. The versioned names are
  # those of run-time packages of Open MPI and MPICH, which come without the link libmpi.so.
  find_library(library NAMES mpi libmpi.so.40 mpich libmpich.so.12 NO_CACHE)
  find_path(header_folder mpi.h HINTS ${MPI_CXX_HEADER_DIR} ${MPI_CXX_INCLUDE_DIRS} NO_CACHE)
  set(present "")
  set(missing "")
  foreach(part "compiler wrapper mpicxx|MPI_CXX_COMPILER" "library libmpi|library" "header mpi.h|header_folder")
    string(REGEX MATCH "^(.*)\\|(.*)$" part "${part}")
    set(name "${CMAKE_MATCH_1}")
    set(where "${${CMAKE_MATCH_2}}")
    if(where)
      list(APPEND present "${name} (${where})")
    else()
      list(APPEND missing "${name}")
    endif()
  endforeach()
  list(JOIN present ", " present)
  list(JOIN missing ", " missing)
  set(text "")
  if(present AND missing)
    set(text "incomplete, missing: ${missing}; present: ${present}")
  elseif(present)
    set(text "a test program does not compile or link, see ${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}; present: ${present}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

if(NOT debubble_MPI STREQUAL "OFF" AND (debubble_TOOLS OR debubble_TESTS))
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what we use
  find_package(MPI QUIET COMPONENTS CXX)
  # Not TARGET MPI::MPI_CXX, which FindMPI creates even when it finds nothing. FOUND means that it compiled and linked
  # a program that includes mpi.h.
  if(MPI_CXX_FOUND)
    set(debubble_MPI_FOUND ON)
  else()
    debubble_describe_partial_mpi(debubble_MPI_PROBLEM)
    if(debubble_MPI STREQUAL "ON")
      string(REGEX REPLACE "(.+)" " (\\1)" debubble_mpi_reason "${debubble_MPI_PROBLEM}")
      message(FATAL_ERROR "debubble_MPI=ON, but no MPI was found${debubble_mpi_reason}.\n"
        "Install it (apt-get install openmpi-bin libopenmpi-dev), or use -Ddebubble_MPI=AUTO to build without it.")
    endif()
  endif()
endif()
