# Whether MPI is at hand. Only the plugin libdebubble_mpi.so links it (live/mpi), so the same command serves machines
# with and without MPI.
set(debubble_MPI_FOUND OFF)
if(NOT debubble_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "debubble_MPI is \"${debubble_MPI}\"; it must be AUTO, ON or OFF")
endif()
if(NOT debubble_MPI STREQUAL "OFF" AND (debubble_TOOLS OR debubble_TESTS))
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what we use
  find_package(MPI QUIET COMPONENTS CXX)
  if(TARGET MPI::MPI_CXX)
    set(debubble_MPI_FOUND ON)
  elseif(debubble_MPI STREQUAL "ON")
    message(FATAL_ERROR "debubble_MPI=ON, but no MPI was found.\n"
      "Install it (apt-get install openmpi-bin libopenmpi-dev), or use -Ddebubble_MPI=AUTO to build without it.")
  endif()
endif()
