// Nccl: the functions of libnccl.so.2, loaded at run time ($DEBUBBLE_LIBNCCL: path of the library to load).
#pragma once

#include <string>

#include "live/mpi/nccl_abi.hpp"

namespace debubble::live {

struct Nccl {
  nccl::Functions call;
  std::string library;  // as it was opened
  std::string version;  // "2.28.9"
};

// Throws UnavailableError U054 where there is none, where it lacks a function, or where it is older than 2.18.
[[nodiscard]] Nccl load_nccl();

// Throws UnavailableError U027 unless the call succeeded: "`what` failed: unhandled cuda error (...)".
void check_nccl(const Nccl& library, nccl::Result result, const std::string& what);

[[nodiscard]] std::string nccl_version_text(int version);  // 22809 -> "2.28.9"

}  // namespace debubble::live
