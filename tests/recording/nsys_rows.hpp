// The rows of an Nsight Systems export (SQLite), as they are: read by queries of its own, so that what is played from
// them owes nothing to our importer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace debubble::testing {

struct NsysRange {  // NVTX_EVENTS, push/pop
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;  // globalTid
  std::int64_t domain = 0;
  std::string text;
};

struct NsysCall {  // CUPTI_ACTIVITY_KIND_RUNTIME
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::uint32_t correlation = 0;
  std::string name;
};

struct NsysWork {  // CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET
  enum class Table { kKernel, kMemcpy, kMemset } table = Table::kKernel;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_node = 0;
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 0;
  std::string name;
};

struct NsysMemory {  // CUDA_GPU_MEMORY_USAGE_EVENTS
  std::int64_t time = 0;
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::int64_t kind = 0;       // 2: device
  std::int64_t operation = 0;  // 0: allocation, 1: deallocation
};

// Each in order of time.
struct NsysRows {
  std::vector<NsysRange> ranges;
  std::vector<NsysCall> calls;
  std::vector<NsysWork> work;
  std::vector<NsysMemory> memory;
  std::map<std::int64_t, std::string> domains;  // their names, where the export has them
};

// Throws std::runtime_error with SQLite's message.
[[nodiscard]] NsysRows read_nsys_rows(const std::string& path);

}  // namespace debubble::testing
