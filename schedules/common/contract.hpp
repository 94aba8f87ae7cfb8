// What every schedule file promises, and what it is asked.
//
// A builder is a pure function from a request to a Schedule: every (stage, microbatch) runs forward once and completely
// backward once, no times in the result, no randomness. It throws InputError for a request it cannot honour, with the
// nearest legal values in the help line, and leaves a note where physics allows what a framework would refuse.
//
// Most orders are fixed. A cost-aware builder (`uses_costs`) also reads PlanningCosts; without them it plans for equal
// passes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

// What a cost-aware builder may know. One microbatch; stages in model order.
struct PlanningCosts {
  StageCosts costs;  // one entry per stage of one replica
  // From the end of an op to the start of the next stage's, between different devices: entry s is the hop s -> s+1, and
  // back. One entry fewer than stages; empty: no latency.
  std::vector<Nanoseconds> hops;
  // How transfers take turns with compute. Searches place ops as if they overlapped; of what they find, the engine's
  // time under this rule decides (planned_run).
  P2p p2p = P2p::kOverlapped;
  // What `memory_limit` counts where it has no unit: one device share's activation; and what is left over where the
  // activations of all stages do not divide by the devices.
  Bytes activation_unit = 0;
  Bytes activation_rest = 0;
  std::vector<Bytes> static_bytes;  // by device: what a limit with a unit ("76GiB") must also hold; empty: nothing
};

struct ScheduleRequest {
  int devices = 1;
  int microbatches = 1;
  int chunks = 0;  // stages per device; 0: the schedule's own default
  std::map<std::string, std::string> params;
  const PlanningCosts* costs = nullptr;  // only for rows with `uses_costs`; may be null even then
};

struct ParamSpec {
  std::string name;
  std::string values;         // "1..p/2" or "direct|doubling|halving", to display
  std::string default_value;  // as text, to display: "p"
  std::string help;           // one sentence
};

enum class ScheduleFamily { kSynchronous, kZeroBubble, kAsynchronous };
[[nodiscard]] const char* to_string(ScheduleFamily family);  // "synchronous", "zero-bubble", "asynchronous"

// How we know that the order is what its name says.
enum class Certainty {
  kReproduced,  // the authors' order or numbers, reproduced by tests
  kDerived,     // derived from the published description; tested against closed forms, brute force or invariants
  kProposal,    // the published order is unknown: a construction of ours after the published idea
};
[[nodiscard]] const char* to_string(Certainty certainty);  // "reproduced", "derived", "proposal"

// The size of a case to which a closed form is applied: uniform stages, no communication.
struct FormCase {
  int devices = 1;
  int microbatches = 1;
  int chunks = 1;
  std::map<std::string, std::string> params;  // as the Schedule says it used them
  double forward = 1, backward = 2;           // of one device share; the whole backward
  double input_grad = 1, weight_grad = 1;
  double held = 1;  // share of an activation kept from I to W
  int device = 0;   // for peaks
};

// A formula as people read it, and as the property tests evaluate it.
struct ClosedForm {
  std::string text;                                           // "(m + p - 1)(f + b)"; empty: there is none
  std::optional<double> (*value)(const FormCase&) = nullptr;  // nothing where the formula does not apply
};

struct ScheduleEntry {
  std::string name;
  std::string summary;  // one line, for lists
  std::string citation;
  std::string constraints;  // "p >= 2, v >= 2", to display
  std::string needs;  // what it costs apart from time: "splits the backward", "two copies of the weights"; may be empty
  bool splits_backward = false;
  int default_chunks = 1;
  std::vector<ParamSpec> params;
  Schedule (*build)(const ScheduleRequest&) = nullptr;

  ScheduleFamily family = ScheduleFamily::kSynchronous;
  Certainty certainty = Certainty::kReproduced;
  std::string certainty_note{};  // one sentence: against what it was tested, or what is not known
  ClosedForm makespan{};         // of one iteration, in the units of FormCase
  ClosedForm peak{};             // activations of `device`, in device shares
  std::string frameworks{};  // who runs it today: "Megatron-LM, torchtitan (Interleaved1F1B)"; empty: nobody we know of
  std::string advice{};      // one or two sentences: when to use it, and what it costs
  bool uses_costs = false;   // the order depends on the times
  bool even_devices = false;   // runs on an even number of devices only
  int chunk_step = 1;          // -v may be default_chunks plus multiples of this; 0: default_chunks only
  std::string chunks_param{};  // the parameter that decides -v ("waves"); empty: none does
};

}  // namespace debubble
