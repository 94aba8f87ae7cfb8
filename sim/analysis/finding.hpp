// Finding: what there is to say about a run in addition to its numbers, as facts. Each type is one sentence that
// formats/exporters/finding_text.hpp writes; its code is in docs/errors.md.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/units.hpp"
#include "sim/rows/stall.hpp"

namespace debubble {

// X010, error: the devices wait for each other as Report::deadlock says.
struct DeadlockFound {
  bool coupled_transfers = false;  // without them the order may survive
  bool meeting_transfers = false;  // the same of one rendezvous after another
};

// F040, error: Report::memory_fit says where and by how much.
struct OutOfMemory {
  bool remedies_tried = false;  // those that help are in MemoryFit::remedies
};

// X020, error: the run needs more than the memory that schedules are compared within.
struct OverMemoryLimit {
  int device = 0;  // the one that needs most
  Bytes peak = 0;
  Bytes limit = 0;
};

// M030, warning: a transform moved the peak above the limit that the schedule was planned for.
struct AbovePlannedMemory {
  std::string planner;  // the schedule or transform that took the limit
  std::string limit;    // as given: "2", "40GiB"
  int device = 0;       // the one that is furthest above
  Bytes peak = 0;
  Bytes above = 0;
};

// F025, warning: collectives inside layers take longer on these devices, whose ranks lie on slower links.
struct SlowCollectives {
  std::vector<int> devices;
  double factor = 0;  // the longest over the shortest; 0: the shortest takes no time
};

// F026, warning: the GPU waits for the host to launch a layer's kernels. Times are those of one microbatch.
struct HostBound {
  std::string layer;      // the one that waits longest
  Nanoseconds waits = 0;  // of that layer, forward and backward
  Nanoseconds time = 0;   // of that layer, waits included
  double share = 0;       // of all layers' time
};

// F030, warning: what the model's file says and the cost model leaves out.
struct LeftOutOfModel {
  std::string what;
};

// S020, note: of its schedule, e.g. that a framework would refuse this input.
struct ScheduleNote {
  std::string note;
};

// S020, note: preconditioning that no bubble has room for, and that the step time does not count.
struct PreconditionTime {
  Nanoseconds time = 0;  // per step
};

// E030, error: a live run stopped moving.
struct StallFound {
  Stall stall;
};

// E031, error: the wrong tensor reached an op of a live run.
struct WrongData {
  std::string what;  // the op, the tensor it should have got, and the one it got
};

// The diagnostic's own code, error: the schedule cannot run as asked.
struct Refused {
  Diagnostic reason;
};

using Finding = std::variant<DeadlockFound, OutOfMemory, OverMemoryLimit, AbovePlannedMemory, SlowCollectives,
                             HostBound, LeftOutOfModel, ScheduleNote, PreconditionTime, StallFound, WrongData, Refused>;

enum class Severity { kNote, kWarning, kError };
[[nodiscard]] const char* to_string(Severity severity);  // "note", "warning", "error"

[[nodiscard]] Severity severity_of(const Finding& finding);
[[nodiscard]] std::string code_of(const Finding& finding);
[[nodiscard]] inline bool is_error(const Finding& finding) { return severity_of(finding) == Severity::kError; }

}  // namespace debubble
