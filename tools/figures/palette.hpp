// What ops, causes of idle time and kinds of memory look like in figures: the colours of the HTML report (Okabe and
// Ito's for ops), or, for black-and-white print, greys and hatches. Either way a sign or a hatch says the same as the
// colour.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"
#include "sim/core/op.hpp"

namespace debubble::figure {

enum class Hatch : std::uint8_t { kNone, kUp, kDown, kCross, kFlat, kUpright };

struct Look {
  std::string fill;
  std::string ink;  // of text upon it
  Hatch hatch = Hatch::kNone;
};

// `light`: of every second stage of a device, or replica. In mono it is told by a bar at the foot of the box instead.
[[nodiscard]] Look look_of(OpKind kind, bool light, bool mono);
[[nodiscard]] Look look_of(IdleCause cause, bool mono);
[[nodiscard]] Look look_of(MemoryCategory category, bool mono);
[[nodiscard]] Look look_of_step(bool mono);        // tasks of the training step on the compute lane
[[nodiscard]] Look look_of_collective(bool mono);  // on a lane of their own

// One letter or sign of a cause: "f", "=", "s".
[[nodiscard]] const char* sign_of(IdleCause cause);

// As legends say them: "transfer latency", "held for weight grad".
[[nodiscard]] std::string words_of(IdleCause cause);
[[nodiscard]] std::string words_of(MemoryCategory category);

inline constexpr const char* kText = "#000000";
inline constexpr const char* kFaint = "#666666";
inline constexpr const char* kPaper = "#ffffff";
inline constexpr const char* kIdle = "#eeeeee";
inline constexpr const char* kLimit = "#d55e00";

}  // namespace debubble::figure
