// Importer of torch.profiler's traces (Kineto's Chrome JSON, plain or in gzip): one file, one rank, one stream of
// records.
//
//     cpu_op, user_annotation, nn.Module of python_function      RangePush, RangePop    in nesting order
//     cuda_runtime, cuda_driver that launched something          LaunchRecord
//     kernel, gpu_memcpy, gpu_memset                             KernelRecord
//     "External id", else the thread and time of the launch      LinkRecord
//     [memory] of a GPU                                          MemoryRecord
//     "Sequence number", "Fwd thread id", "Input Dims"           fields of RangePush
//     deviceProperties, versions, distributedInfo                FactRecord
//
// Everything is in memory at once (a file takes about twice its size), so every launch finds its range exactly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/importers/kineto_events.hpp"
#include "profiler/importers/kineto_nest.hpp"
#include "profiler/importers/layer_guess.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

class KinetoTrace {
 public:
  // `bytes` is the file. Throws InputError as read_kineto_events (kineto_events.hpp).
  KinetoTrace(std::string bytes, const std::string& name);

  // Feeds everything, in the order of host time.
  void replay(RecordSink& sink) const;

  [[nodiscard]] std::optional<LayerGuess> guess_layers() const;
  // What was cut, linked indirectly, left out, or contradicts itself; one sentence each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  void find_forward_threads();
  [[nodiscard]] std::int64_t contradicting_arrows() const;
  [[nodiscard]] std::vector<GuessRange> candidates(KinetoRangeKind kind) const;

  KinetoEvents events_;
  KinetoNest nest_;
  std::vector<std::uint32_t> forward_threads_;  // by "Fwd thread id"; 0: not known
};

}  // namespace debubble
