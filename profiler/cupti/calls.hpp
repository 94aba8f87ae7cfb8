// The API calls that launch GPU work: only these are recorded, which is lighter than all calls. A library may launch
// through either level. Numbers from cupti_runtime_cbid.h and cupti_driver_cbid.h, which only ever grow.
#pragma once

#include <array>
#include <cstdint>

namespace debubble::cupti_abi {

// cudaMemcpy, cudaMemset, cudaLaunchKernel (211), cooperative launches (269), cudaGraphLaunch (311),
// cudaLaunchKernelExC (430), cudaMemcpyBatchAsync (482, 509), each with its synchronous, Async, 2D, 3D, Peer, symbol
// and per-thread-stream forms. Sorted.
inline constexpr std::array<std::uint32_t, 55> kRuntimeLaunches = {
    31,  32,  39,  40,  41,  44,  47,  48,  49,  50,  51,  52,  142, 143, 144, 145, 160, 161, 162,
    163, 211, 214, 215, 216, 223, 224, 225, 228, 231, 232, 233, 234, 235, 236, 243, 244, 245, 246,
    249, 250, 269, 270, 272, 311, 312, 430, 431, 482, 483, 484, 485, 509, 510, 511, 512};

// cuMemsetD*Async, cuMemcpy*_v2, cuMemcpyAsync (306), cuLaunchKernel (307), cooperative launches (477), cuGraphLaunch
// (514), cuLaunchKernelEx (652), cuMemcpyBatchAsync (776, 796), with their per-thread-stream forms. Sorted.
inline constexpr std::array<std::uint32_t, 48> kDriverLaunches = {
    216, 218, 220, 222, 224, 226, 276, 277, 278, 279, 280, 281, 289, 291, 306, 307,
    319, 321, 418, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 432, 433,
    442, 477, 478, 480, 514, 515, 652, 653, 776, 777, 778, 779, 796, 797, 798, 799};

}  // namespace debubble::cupti_abi
