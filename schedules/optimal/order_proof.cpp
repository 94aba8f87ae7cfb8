#include "schedules/optimal/order_proof.hpp"

#include <array>
#include <cmath>

#include "sim/core/words.hpp"

namespace debubble {

namespace {

// "41.000": a number of 1/10^digits.
std::string planned_decimal(std::int64_t value, std::int64_t scale) {
  return std::to_string(value / scale) + "." + std::to_string(value % scale + scale).substr(1);
}

// "41.000 ms": a time of a plan, in the largest unit of which it is one or more.
std::string planned_time(Nanoseconds time) {
  struct TimeUnit {
    const char* name;
    Nanoseconds thousandth;
  };
  constexpr std::array<TimeUnit, 3> kTimeUnits{{{"s", 1'000'000}, {"ms", 1'000}, {"us", 1}}};
  for (const TimeUnit& unit : kTimeUnits) {
    const std::int64_t thousandths = (time + unit.thousandth / 2) / unit.thousandth;
    if (thousandths >= 1000) return planned_decimal(thousandths, 1000) + " " + unit.name;
  }
  return std::to_string(time) + " ns";
}

// Rounded up: a gap that is there is not written as none.
std::string in_percent(double share) {
  return planned_decimal(static_cast<std::int64_t>(std::ceil(10'000 * share)), 100) + " %";
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
