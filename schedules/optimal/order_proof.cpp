#include "schedules/optimal/order_proof.hpp"

#include <cmath>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

// "41.000 ms": a time of a plan.
std::string planned_time(Nanoseconds time) {
  Scale scale = duration_scale(time);
  if (scale.divisor > 1) scale.decimals = 3;
  return format_with_unit(time, scale);
}

// Rounded up: a gap that is there is not written as none.
std::string in_percent(double share) {
  return format_with_unit(static_cast<std::int64_t>(std::ceil(10'000 * share)), {"%", 100, 2});
}

}  // namespace

std::string proof_text(const OrderProof& proof) {
  std::string text = std::string("planned ") + (proof.span ? "span " : "step ") + planned_time(proof.time);
  const std::string nothing = std::string("no order of these stages") +
                              (proof.copies ? ", with copies to the host or without," : "") +
                              " within this memory takes less";
  if (proof.copies) {
    text += " with " + (proof.leaving == 0 ? "nothing" : counted(proof.leaving, "activation")) + " copied to the host";
    if (proof.leaving > 0) text += " and back";
  }
  if (proof.proven) {
    text += "; " + nothing;
    if (!proof.because.empty()) text += ": " + proof.because;
  } else {
    text += ", and another order is at most " + in_percent(proof.gap()) + " shorter: " + nothing + " than " +
            planned_time(proof.bound);
    if (!proof.because.empty()) text += ", as " + proof.because;
  }
  text += "; the best row to start from is " + proof.start + " with " + planned_time(proof.start_time) + "; " +
          counted(proof.nodes, "node");
  if (!proof.solver.empty()) text += " of " + proof.solver;
  if (proof.timed) text += "; a budget in seconds: another machine may find another order";
  return text;
}

}  // namespace debubble
