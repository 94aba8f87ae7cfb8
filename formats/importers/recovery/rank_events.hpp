// What a recording of one rank holds of use for finding a pipeline's ops, whoever recorded it: PyTorch's profiler
// (kineto_rank.hpp) or Nsight Systems (nsys_rank.hpp). recover_run.hpp makes a run of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/importers/pipeline_trace.hpp"
#include "formats/importers/recovery/range_words.hpp"
#include "formats/importers/thread_work.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// No run has more; larger numbers of a file are taken for damaged.
inline constexpr std::int64_t kMostRanksOfRun = 1 << 20;

struct MeantRange {
  RangeMeaning meaning;
  Nanoseconds begin = 0;  // on the host, by the file's clock
  Nanoseconds end = 0;
  std::int64_t sequence = -1;  // of autograd's nodes: that of the op which made them
  std::uint32_t lane = 0;      // thread
};

// A host op that may be part of a forward: "aten::addmm".
struct HostOp {
  std::string word;  // in lower case, without what is before "::" and without underscores
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t sequence = -1;  // of the node that it makes, if none behind it makes one first
  std::uint32_t lane = 0;      // thread
};

struct LaunchedWork {
  enum class Kind : std::uint8_t { kCompute, kSendRecv, kCollective };
  Kind kind = Kind::kCompute;
  Nanoseconds launched = 0;  // on the host
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// What a kernel of this name does.
[[nodiscard]] LaunchedWork::Kind kernel_kind(std::string_view name);

struct RankEvents {
  std::string file;
  std::optional<std::int64_t> rank;
  bool rank_by_name = false;     // out of the file's name
  bool rank_by_process = false;  // by the GPU or the number of its process
  std::optional<std::int64_t> world_size;
  std::int64_t base = 0;  // ns since 1970 at which the file's clock was 0; 0: unknown
  std::string device;
  std::vector<PipelineEvent> named;  // PP: ranges of the host
  std::vector<MeantRange> ranges;    // by begin, outer ones first
  std::vector<std::string> nodes;    // autograd's nodes as words: "addmm"; sorted
  std::vector<HostOp> ops;           // by begin
  std::vector<LaunchedWork> work;    // by launch
  std::vector<PipelineStep> steps;   // by begin
  ThreadWork host;                   // torch.profiler's alone
  std::map<std::string, std::int64_t> losses;
};

// The number in "rank3.json", "trace_rank-3.json.gz" or "report.rank_3.sqlite"; nothing for other names.
[[nodiscard]] std::optional<std::int64_t> rank_in_file_name(const std::string& file);

// "AddmmBackward0" and "aten::addmm" as "addmm"; "aten::add_" as "add".
[[nodiscard]] std::string autograd_word(std::string_view name);

// Sorts everything in the order that RankEvents promises, and tells an all_to_all's kernels from those of transfers by
// the range in which they were launched.
void sort_events(RankEvents& events);

}  // namespace debubble
