// Importer of Nsight Systems' SQLite exports: nsys export --type sqlite report.nsys-rep
//
//     NVTX_EVENTS               push/pop and start/end ranges, with emit_nvtx's text      RangePush, RangePop
//     CUPTI_ACTIVITY_KIND_RUNTIME                                                         LaunchRecord, LinkRecord
//     CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET                                        KernelRecord
//     CUDA_GPU_MEMORY_USAGE_EVENTS   where it is                                          MemoryRecord
//     TARGET_INFO_GPU, TARGET_INFO_SESSION_START_TIME   where they are                    FactRecord
//
// One process is one stream: correlation ids are unique in a process only. Rows are read in order of time, by queries
// that sort on disk, so memory does not grow with the export. A launch belongs to the innermost range that is open on
// its thread at its start.
//
// The schema is that of NVIDIA's documentation ("SQLite schema reference"); columns differ between versions, and a
// missing one that is not needed is done without. Held to two exports of an H100 (schema 3.25.0, traces/recordings).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "formats/files/sqlite_file.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

class NsysExport {
 public:
  // Throws InputError P010 and K001 as SqliteFile; P006 tables or columns that are needed and missing, all of them;
  // A003 no GPU work; D004 no ranges.
  explicit NsysExport(const SqliteFile& file);

  // Processes that used a GPU, in the order of their numbers; 0 means all where the export does not tell them
  // apart.
  [[nodiscard]] const std::vector<std::int64_t>& processes() const { return processes_; }

  // Feeds one process's records, in the order of host time; GPU work follows its launch at once. Can be repeated.
  void replay(std::int64_t process, RecordSink& sink);

  // Of what was replayed so far; one sentence each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  void check_tables() const;
  void find_processes();

  const SqliteFile& file_;
  std::vector<std::int64_t> processes_;
  std::set<std::int64_t> noted_;  // processes replayed before; a recording may be looked through first
  std::int64_t overlaps_ = 0;
  std::int64_t unlinked_ = 0;
  std::int64_t graphs_ = 0;  // CUDA graphs recorded as a whole
};

}  // namespace debubble
