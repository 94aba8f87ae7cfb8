# What cpack makes (tools/package calls it): with debubble_PACKAGE=TGZ an archive that may be unpacked anywhere, with DEB
# Debian packages, one for each of the components of our install rules (wheels are made of a build for TGZ, without cpack):
#
#   command       the command, its data, the injection library, Python packages, manual pages, completions
#   python        the Python module; wheels only
#   mpi, cbc      the plugins, where their libraries were found (no part of the archive but when they are built)
#   development   static libraries, headers and the CMake package; Debian packages only
#
# Both carry fmt, simdjson, yaml-cpp, oneTBB and the C++ library inside, and what is headers only
# (DebubbleDependencies.cmake, DebubbleStaticCxx.cmake). zlib and SQLite are in the archive, too; a Debian package depends
# on the system's, as Debian's rules want it.
if(NOT debubble_IS_TOP_LEVEL OR NOT debubble_TOOLS)
  return()
endif()

set(debubble_components command)
foreach(plugin mpi cbc)
  if(TARGET debubble_${plugin})
    list(APPEND debubble_components ${plugin})
  endif()
endforeach()
if(debubble_PACKAGE STREQUAL "DEB")
  list(APPEND debubble_components development)
endif()

set(debubble_deb_command debubble)
set(debubble_deb_mpi debubble-mpi)
set(debubble_deb_cbc debubble-cbc)
set(debubble_deb_development libdebubble-dev)

# Whoever makes the packages, as Debian's own tools name them, or git.
function(debubble_find_maintainer result)
  set(name "$ENV{DEBFULLNAME}")
  set(address "$ENV{DEBEMAIL}")
  foreach(part name address)
    string(REPLACE "address" "email" key "${part}")
    if(NOT ${part})
      execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" config "user.${key}" OUTPUT_VARIABLE ${part}
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
  endforeach()
  if(NOT name OR NOT address)
    set(name "The debubble authors")
    set(address "debubble@example.org")
  endif()
  set(${result} "${name} <${address}>" PARENT_SCOPE)
endfunction()

function(debubble_write_gzip path text)
  file(WRITE "${path}" "${text}")
  execute_process(COMMAND "${debubble_GZIP}" -9nf "${path}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Debian's policy: a copyright file and a changelog in each package.
function(debubble_install_debian_files component package)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/package/copyright" "${PROJECT_BINARY_DIR}/package/changelog.Debian.gz"
    DESTINATION share/doc/${package} COMPONENT ${component})
endfunction()

if(debubble_PACKAGE STREQUAL "DEB")
  find_program(debubble_GZIP gzip REQUIRED)
  mark_as_advanced(debubble_GZIP)
  debubble_find_maintainer(debubble_maintainer)
  execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" log -1 --format=%aD OUTPUT_VARIABLE debubble_date
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT debubble_date)
    string(TIMESTAMP debubble_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  endif()
  debubble_write_gzip("${PROJECT_BINARY_DIR}/package/changelog.Debian"
"debubble (${PROJECT_VERSION}-1) unstable; urgency=medium

  * debubble ${PROJECT_VERSION}; what changed is in changelog.gz of the package
    debubble.

 -- ${debubble_maintainer}  ${debubble_date}
")
  file(READ "${PROJECT_SOURCE_DIR}/CHANGELOG.md" debubble_changes)
  debubble_write_gzip("${PROJECT_BINARY_DIR}/package/changelog" "${debubble_changes}")
  install(FILES "${PROJECT_BINARY_DIR}/package/changelog.gz" DESTINATION share/doc/debubble COMPONENT command)
  foreach(component IN LISTS debubble_components)
    debubble_install_debian_files(${component} ${debubble_deb_${component}})
  endforeach()
else()
  install(FILES LICENSE CHANGELOG.md cmake/package/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
endif()
install(FILES README.md DESTINATION share/doc/debubble COMPONENT command)

string(TOLOWER "${CMAKE_SYSTEM_NAME}" debubble_system)
set(CPACK_GENERATOR "${debubble_PACKAGE}")
if(NOT CPACK_GENERATOR)
  set(CPACK_GENERATOR TGZ)
endif()
set(CPACK_SOURCE_GENERATOR "")
set(CPACK_PACKAGE_NAME debubble)
set(CPACK_PACKAGE_VENDOR "The debubble authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulate, explain and measure pipeline-parallel training")
set(CPACK_PACKAGE_FILE_NAME "debubble-${PROJECT_VERSION}-${debubble_system}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL ${debubble_components})
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
else()
  set(CPACK_DEB_COMPONENT_INSTALL ON)
endif()

set(CPACK_PACKAGING_INSTALL_PREFIX "")
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${debubble_maintainer}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
foreach(component IN LISTS debubble_components)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${debubble_deb_${component}})
endforeach()
# The summary is the first line of each.
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "Replays any pipeline-parallel schedule over measured or modelled stage times,
on any modelled cluster: step time, bubbles with the cause of each, peak
memory and throughput. Measures the layers of a PyTorch program, runs a
schedule for real, and keeps prediction and measurement together.")
set(CPACK_COMPONENT_MPI_DESCRIPTION "The plugin that debubble needs to run a schedule, a sweep or a plan over MPI,
on several hosts.")
set(CPACK_COMPONENT_CBC_DESCRIPTION "The plugin that debubble needs for schedules made to measure by the MILP
solver CBC.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The simulator's static libraries with their headers and a CMake package, to
build against.")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "debubble (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_CBC_PACKAGE_DEPENDS "debubble (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "debubble-mpi, debubble-cbc, libcairo2, libopenblas0, bubblewrap")
include(CPack)
