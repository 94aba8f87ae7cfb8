# Whether a CUDA toolkit is at hand, for the summary and for `debubble doctor`. Nothing links CUDA: the driver and CUPTI
# are loaded at run time, so the same binary serves machines with and without a GPU.
set(debubble_CUDA_TOOLKIT "")
if(NOT debubble_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "debubble_CUDA is \"${debubble_CUDA}\"; it must be AUTO, ON or OFF")
endif()
if(NOT debubble_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(debubble_CUDA_TOOLKIT "${CUDAToolkit_VERSION}")
  elseif(debubble_CUDA STREQUAL "ON")
    message(FATAL_ERROR "debubble_CUDA=ON, but no CUDA toolkit was found.\n"
      "Set CUDAToolkit_ROOT to its folder, or use -Ddebubble_CUDA=AUTO to build without it.")
  endif()
endif()
