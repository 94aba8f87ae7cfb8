// The API calls that launch GPU work: only these are recorded, which is lighter than all calls. A library may launch
// through either level. Numbers from cupti_runtime_cbid.h and cupti_driver_cbid.h, which only ever grow.
#pragma once

#include <array>
#include <cstdint>

namespace debubble::cupti_abi {

// cudaMemcpy, cudaMemset, cudaLaunchKernel (211), cooperative launches (269), cudaGraphLaunch (311),
// cudaLaunchKernelExC (430), cudaMemcpyBatchAsync (482, 509), __cudaLaunchKernel (505: what <<<>>> becomes since CUDA
// 13), cudaMemcpyWithAttributesAsync (554), each with its synchronous, Async, 2D, 3D, Peer, symbol and
// per-thread-stream forms. Sorted.
inline constexpr std::array<std::uint32_t, 61> kRuntimeLaunches = {
    31,  32,  39,  40,  41,  44,  47,  48,  49,  50,  51,  52,  142, 143, 144, 145, 160, 161, 162, 163, 211,
    214, 215, 216, 223, 224, 225, 228, 231, 232, 233, 234, 235, 236, 243, 244, 245, 246, 249, 250, 269, 270,
    272, 311, 312, 430, 431, 482, 483, 484, 485, 505, 506, 509, 510, 511, 512, 554, 555, 556, 557};

// cuMemsetD* and cuMemcpy*_v2 (249, 276, _ptds 397), cuMemcpy (305), cuMemcpyAsync (306), cuLaunchKernel (307),
// cuMemcpyPeer (318), cooperative launches (477), cuGraphLaunch (514), cuLaunchKernelEx (652), cuMemcpyBatchAsync (776,
// 796), cuMemcpyWithAttributesAsync (837), each synchronous and Async, with the per-thread-stream forms. Sorted.
inline constexpr std::array<std::uint32_t, 79> kDriverLaunches = {
    216, 218, 220, 222, 224, 226, 249, 250, 251, 252, 253, 254, 276, 277, 278, 279, 280, 281, 287, 288,
    289, 290, 291, 305, 306, 307, 318, 319, 320, 321, 397, 398, 399, 405, 406, 407, 408, 409, 410, 411,
    412, 413, 414, 415, 416, 418, 421, 422, 423, 424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442,
    477, 478, 480, 514, 515, 652, 653, 776, 777, 778, 779, 796, 797, 798, 799, 837, 838, 839, 840};

}  // namespace debubble::cupti_abi
