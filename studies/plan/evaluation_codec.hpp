// What is evaluated for a plan, as the bytes of a message between its processes: all of one debubble, so that a double
// is its bits.
#pragma once

#include "live/mpi/message_codec.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/step_costs.hpp"

namespace debubble {

// Without the choice that was simulated, which whoever asked knows.
void write(live::MessageWriter& writer, const Evaluation& one);
void write(live::MessageWriter& writer, const BaseEvaluation& base);
void write(live::MessageWriter& writer, const StepCosts& step);
void write(live::MessageWriter& writer, const Interest& interest);

[[nodiscard]] Evaluation read_evaluation(live::MessageReader& reader);
[[nodiscard]] BaseEvaluation read_base_evaluation(live::MessageReader& reader);
[[nodiscard]] StepCosts read_step_costs(live::MessageReader& reader);
[[nodiscard]] Interest read_interest(live::MessageReader& reader);

}  // namespace debubble
