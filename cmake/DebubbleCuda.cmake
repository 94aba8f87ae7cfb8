# Whether a CUDA toolkit is at hand, for the summary and for `debubble doctor`. Nothing links CUDA: the driver and CUPTI
# are loaded at run time, so the same binary serves machines with and without a GPU.
#
# Sets debubble_CUDA_TOOLKIT to the version of a complete toolkit, and debubble_CUDA_PROBLEM to what is missing when
# only a part of one is installed.
set(debubble_CUDA_TOOLKIT "")
set(debubble_CUDA_PROBLEM "")
if(NOT debubble_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "debubble_CUDA is \"${debubble_CUDA}\"; it must be AUTO, ON or OFF")
endif()

# Lists in `result` the parts of the toolkit that find_package did not find.
function(debubble_missing_cuda_parts result)
  set(missing "")
  if(NOT CUDAToolkit_VERSION)
    list(APPEND missing "the version (nvcc --version)")
  endif()
  if(NOT CUDAToolkit_INCLUDE_DIR)
    list(APPEND missing "cuda_runtime.h")
  endif()
  if(NOT CUDA_CUDART)
    list(APPEND missing "libcudart")
  endif()
  if(CUDAToolkit_FOUND AND NOT CUDAToolkit_CUPTI_INCLUDE_DIR)
    list(APPEND missing "CUPTI's header cupti.h")
  endif()
  if(CUDAToolkit_FOUND AND NOT TARGET CUDA::cupti)
    find_library(library cupti HINTS "${CUDAToolkit_LIBRARY_DIR}"
      PATH_SUFFIXES ../extras/CUPTI/lib64 ../extras/CUPTI/lib NO_CACHE)
    if(NOT library)
      list(APPEND missing "CUPTI's library libcupti")
    endif()
  endif()
  list(JOIN missing ", " missing)
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

if(NOT debubble_CUDA STREQUAL "OFF")
  # CMake 3.25.1, that of Debian 12, stops with an error at toolkits that lack nvToolsExt (CUDA 13 has none any more),
  # where it wants to call it deprecated. It does so only for projects that ask for CMake 3.25 or later.
  set(debubble_cmake_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit QUIET)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${debubble_cmake_minimum})
  if(CUDAToolkit_BIN_DIR)
    debubble_missing_cuda_parts(debubble_CUDA_PROBLEM)
    if(debubble_CUDA_PROBLEM)
      string(STRIP "${CUDAToolkit_VERSION} in ${CUDAToolkit_BIN_DIR}" debubble_cuda_where)
      string(PREPEND debubble_CUDA_PROBLEM "${debubble_cuda_where} is incomplete, missing: ")
    else()
      set(debubble_CUDA_TOOLKIT "${CUDAToolkit_VERSION}")
    endif()
  endif()
  if(debubble_CUDA STREQUAL "ON" AND NOT debubble_CUDA_TOOLKIT)
    string(REGEX REPLACE "(.+)" " (\\1)" debubble_cuda_reason "${debubble_CUDA_PROBLEM}")
    message(FATAL_ERROR "debubble_CUDA=ON, but no CUDA toolkit was found${debubble_cuda_reason}.\n"
      "Set CUDAToolkit_ROOT to its folder, or use -Ddebubble_CUDA=AUTO to build without it.")
  endif()
endif()
