// The part of NCCL's binary interface that we use, written down from nccl.h 2.28.9; tests/live/mpi/nccl_abi_test.cpp
// holds it to the real header.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "gpu/cuda_abi.hpp"

namespace debubble::nccl {

using Result = int;  // ncclResult_t
inline constexpr Result kSuccess = 0;
inline constexpr Result kInProgress = 7;
inline constexpr int kBytes = 0;  // ncclInt8

using Communicator = struct CommunicatorHandle*;  // ncclComm_t

struct UniqueId {  // ncclUniqueId
  char bytes[128] = {};
};

// ncclConfig_t as it was in 2.18, when it got `splitShare`. `size` tells the library how much of it there is, and
// `version` how to read it, so newer ones take it too.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = INT_MIN;  // INT_MIN: the library's default, here and below
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

// clang-format off
#define DEBUBBLE_NCCL_FUNCTIONS(X)                                                                                   \
  X(version, ncclGetVersion, Result, (int* version))                                                                 \
  X(unique_id, ncclGetUniqueId, Result, (UniqueId* id))                                                              \
  X(init, ncclCommInitRankConfig, Result,                                                                            \
    (Communicator* communicator, int ranks, UniqueId id, int rank, Config* config))                                  \
  X(send, ncclSend, Result,                                                                                          \
    (const void* data, std::size_t count, int type, int peer, Communicator communicator, cuda::Stream stream))       \
  X(receive, ncclRecv, Result,                                                                                       \
    (void* data, std::size_t count, int type, int peer, Communicator communicator, cuda::Stream stream))             \
  X(async_error, ncclCommGetAsyncError, Result, (Communicator communicator, Result* error))                          \
  X(abort, ncclCommAbort, Result, (Communicator communicator))                                                       \
  X(destroy, ncclCommDestroy, Result, (Communicator communicator))                                                   \
  X(error_text, ncclGetErrorString, const char*, (Result result))                                                    \
  X(last_error, ncclGetLastError, const char*, (Communicator communicator))
// clang-format on

struct Functions {
#define DEBUBBLE_DECLARE(name, symbol, result, parameters) \
  result(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  DEBUBBLE_NCCL_FUNCTIONS(DEBUBBLE_DECLARE)
#undef DEBUBBLE_DECLARE
};

}  // namespace debubble::nccl
