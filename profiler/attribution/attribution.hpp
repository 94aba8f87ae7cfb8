// Attribution: which layer and which phase every nanosecond of GPU time belongs to.
//
//     Attributor attributor(rules);
//     read_record_file("rank0.dbrec", attributor);      // or an importer feeds it
//     attributor.end_of_stream();                        // once per rank or file
//     Attribution found = attributor.finish();
//     found.profile()                                    // the profile; found.explain() every rule that was applied
//
// Rules, first match wins, for the innermost range a kernel was launched from:
//
//     1 explicit    "debubble.phase:F|I|W|B|R" inside "debubble.layer:NAME"     our hooks and our own workload
//     2 forward     a layer range, no backward range around it                  F
//     3 backward    autograd node with sequence number n -> layer of the forward op that made node n     B, split into
//                   I and W: by shape (a GEMM whose result has the weight's dimensions is W), by name (bias and norm
//                   weight reductions, AccumulateGrad: W; all else: I), by order where a square GEMM is ambiguous or
//                   a fused function runs its products without operators (fused_nodes.hpp)
//     4 recompute   a forward op inside a backward range                        counted with I, and noted
//     5 rest        optimizer, communication (nccl, wherever it was launched), copies outside of layers, outside of
//                   layers or of all ranges, unlinked, ...
//
// A kernel without a link is placed by the range that was open on the launching thread at the time of its launch.
// Ranges must be pushed and popped in order of time over all threads of a stream; everything else may come in any
// order.
//
// Layer time is the sum of the durations of a layer's kernels in one execution (a microbatch), over the executions
// after the warm-up (stream_selection.hpp); percentiles are nearest ranks. Nothing is lost: layers + rest = all GPU
// time of the recorded, accepted kernels, to the nanosecond. Memory does not grow with the number of records: per
// layer, phase and instance one number is kept. Records wait for each other in windows over the newest million ranges
// and correlations; what falls out is counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/records/record.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

struct AttributionRules {
  // A range whose name matches is a layer, called after the first group (ECMAScript regex).
  std::string layers = "^debubble\\.layer:(.+)$";
  // A range whose name matches is one training step.
  std::string steps = "^(?:debubble\\.step:|ProfilerStep#)(\\d+)$";
  bool explain = false;             // keep one line per (kernel name, rule, layer, phase)
  std::int64_t warm_up_steps = -1;  // discarded at the start; -1: detect
  bool phases_add_up = false;       // phases that repeat inside one layer range are one execution
};

// What the Python hooks or our workload know about a layer and CUPTI cannot see. Joined by name.
struct LayerFacts {
  std::string kind;
  Bytes parameters = 0;
  Bytes output = 0;
  Bytes activation = 0;  // kept for backward, parameters excluded, each storage once
  std::optional<Bytes> weight_grad_held;
  Bytes workspace = 0;
};

// One line of `profile --explain`.
struct Explanation {
  std::string layer;  // or the category of the rest
  std::string phase;  // "F", "I", "W", "B", "R" or empty for the rest
  std::string rule;   // "explicit", "forward", "shape", "name", "order", "unsplit", "recompute", "rest"
  std::string kernel;
  std::int64_t count = 0;
  Nanoseconds total = 0;
};

struct Attribution {
  Profile profile;                        // origin.device, driver, cuda, date from FactRecords where they are
  std::vector<Explanation> explanations;  // by descending total time
  std::vector<std::string> notes;         // what was dropped, assumed, ambiguous; one sentence each
  bool any_backward = true;               // false: of no layer, as in inference; no schedule can be made of that
};

class Attributor : public RecordSink {
 public:
  explicit Attributor(AttributionRules rules);  // throws InputError (A001) for an invalid regex
  ~Attributor() override;
  Attributor(const Attributor&) = delete;
  Attributor& operator=(const Attributor&) = delete;

  using RecordSink::on;
  void on(const RangePush& record) override;
  void on(const RangePop& record) override;
  void on(const LinkRecord& record) override;
  void on(const LaunchRecord& record) override;
  void on(const KernelRecord& record) override;
  void on(const MemoryRecord& record) override;
  void on(const OverheadRecord& record) override;
  void on(const ClockRecord& record) override;
  void on(const SwitchRecord& record) override;
  void on(const FactRecord& record) override;
  void on(const LossRecord& record) override;

  // The records of one process or file are over; the next ones have thread, range and correlation numbers of their own.
  // Layers of the same name go on with further instances.
  void end_of_stream(bool complete = true);

  // Throws InputError (A002) when no range was a layer, naming the ranges that repeat; (A003) when no GPU work was
  // seen; (A004) when none of it was launched inside a layer. `facts` by layer name; `model`, `dtype`,
  // `microbatch_size` ... of the profile are the caller's to fill in.
  [[nodiscard]] Attribution finish(const std::map<std::string, LayerFacts>& facts = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace debubble
