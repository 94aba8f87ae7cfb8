// Collectives and transfers as they were measured on the machines of a preset, at sizes and numbers of ranks between
// the measured ones, too.
//
// Source: NCCL's own tests (2.29; A100 2.27) in ai-dynamo/aiconfigurator and XLA's table of an NVL72 in openxla/xla,
// both Apache-2.0; transfers from the same XLA table (8 H100, 8 B200, NVL72: NCCL's send and receive in one
// communicator of so many ranks) and from microsoft/vidur, MIT (2 ranks). Every second size is in the table, none is
// fitted: times in between lie on straight lines of the logarithms. On the sizes that the table leaves out
// (tests/collectives/left_out.csv) collectives are off by 3.1 % (median) and 12.7 % (nine of ten), transfers by 5.2
// and 14 %. traces/collectives/README.md says what each row is and what is not measured: several
// machines, but for transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cost_models/collectives/collective.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// The machines of a preset's graph, by the graph's name: "dgx-h100:8" has H100s. Nothing: not measured.
[[nodiscard]] std::optional<MeasuredMachine> measured_machine(std::string_view graph_name);
[[nodiscard]] const char* to_string(MeasuredMachine machine);  // "H100"
// ", within a machine as measured on H100 (ai-dynamo/aiconfigurator)": to display; empty where nothing was.
[[nodiscard]] std::string measured_text(std::string_view graph_name);
// One way, of a GPU, as the preset has it: what measured times are compared with, so that a graph with other links than
// the preset's takes as much longer or shorter as they are slower or faster.
[[nodiscard]] std::int64_t preset_bandwidth(MeasuredMachine machine);

struct MeasuredTime {
  Nanoseconds total = 0;
  Nanoseconds latency = 0;  // of this, what bytes have no part in
};

// Among `ranks` (at least 2) of one machine or NVLink domain; `bytes` as in plan_collective. Beyond the largest size
// bytes go on at the rate between the two largest; more ranks than measured take what the most measured ones do.
// Nothing for a broadcast.
[[nodiscard]] std::optional<MeasuredTime> measured_collective(MeasuredMachine machine, CollectiveKind kind, int ranks,
                                                              Bytes bytes);
// Whether the switches reduce for that many ranks (NVLS).
[[nodiscard]] bool reduces_in_switches(MeasuredMachine machine, CollectiveKind kind, int ranks);
// How often the buffer crosses a rank's link one way.
[[nodiscard]] double copies_on_wire(CollectiveKind kind, int ranks, bool in_switches);

enum class TransferReach : std::uint8_t { kNear, kFar };  // within a machine; between two, each GPU with its own card

// Of a message from one rank to another in a communicator of `ranks`: NCCL gives a message the fewer channels, the more
// ranks of one machine there are. Nothing where no such transfer was measured.
[[nodiscard]] std::optional<MeasuredTime> measured_transfer(MeasuredMachine machine, TransferReach reach, int ranks,
                                                            Bytes bytes);

}  // namespace debubble
