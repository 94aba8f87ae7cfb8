# The CMake package: find_package(debubble) gives debubble::core, debubble::engine, ... (tests/package consumes it).
include(CMakePackageConfigHelpers)
set(debubble_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/debubble)

install(EXPORT debubbleTargets NAMESPACE debubble:: DESTINATION ${debubble_package_dir} COMPONENT development)
configure_package_config_file(cmake/debubbleConfig.cmake.in "${PROJECT_BINARY_DIR}/debubbleConfig.cmake"
  INSTALL_DESTINATION ${debubble_package_dir})
# Before 1.0 a minor version may break callers, so 0.1 does not satisfy a request for 0.2 or the reverse.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/debubbleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/debubbleConfig.cmake" "${PROJECT_BINARY_DIR}/debubbleConfigVersion.cmake"
  DESTINATION ${debubble_package_dir} COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
