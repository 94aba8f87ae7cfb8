// What a training log of Megatron-LM says: its block of arguments, and how long iterations took.
//
//     ------------------------ arguments ------------------------
//       hidden_size ..................................... 6144
//     -------------------- end of arguments ---------------------
//      > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)
//      iteration       20/    1000 | ... | elapsed time per iteration (ms): 1354.9 | ...
//
// Lines may have something in front, as launchers put it there. Logs of forks are read as far as they keep these forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/units.hpp"

namespace debubble {

struct LoggedInterval {
  std::int64_t last_iteration = 0;  // the times are means over the iterations since the line before
  Nanoseconds iteration_time = 0;
};

struct MegatronLog {
  std::vector<std::string> words;  // the arguments as a command has them: "--hidden-size", "6144"
  std::vector<LoggedInterval> intervals;
};

// Whether the text has such a block of arguments.
[[nodiscard]] bool is_megatron_log(std::string_view text);

// Of several blocks (a job that was restarted) the last, and the iterations after it.
[[nodiscard]] MegatronLog read_megatron_log(std::string_view text);

// The median over the lines but the first, whose iterations warm up; 0 where there is none.
[[nodiscard]] Nanoseconds median_iteration_time(const MegatronLog& log);

}  // namespace debubble
