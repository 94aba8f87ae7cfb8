// What a training log of Megatron-LM says: its block of arguments, how long iterations took, its timers, and memory.
//
//     |   0  Tesla V100-SXM2...  Off  | 00000000:1A:00.0 Off |                    0 |       nvidia-smi, where it ran
//     ------------------------ arguments ------------------------
//       hidden_size ..................................... 6144
//     -------------------- end of arguments ---------------------
//      > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)
//      iteration       20/    1000 | ... | elapsed time per iteration (ms): 1354.9 | ...
//     time (ms) | forward-compute: 173.61 | ...                                                  log_timers.hpp
//     [Rank 7] (after 20 iterations) memory (MB) | allocated: 21633.0 | max allocated: 24432.0 | ...
//
// Lines may have something in front, as launchers put it there. Logs of forks are read as far as they keep these forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/megatron/log_timers.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// A line of an iteration, as it is printed: what it covers is said in log_iterations.hpp.
struct LoggedInterval {
  std::int64_t last_iteration = 0;
  Nanoseconds iteration_time = 0;
  std::int64_t global_batch = 0;    // samples of the last iteration; 0: the line does not say
  std::int64_t skipped = 0;         // iterations without the optimizer, for the gradients overflowed
  std::int64_t consumed = 0;        // samples since the training's first step; 0: the line does not say
  std::vector<LoggedTimer> timers;  // of the same iterations
};

// What PyTorch's allocator of one rank had given out, at most, since the job began.
struct LoggedMemory {
  std::int64_t rank = 0;
  Bytes max_allocated = 0;
  bool saved = false;  // a checkpoint had been saved before: its peak may be this one
};

struct MegatronLog {
  std::vector<std::string> words;  // the arguments as a command has them: "--hidden-size", "6144"
  std::set<std::string> names;     // all that the block has, False and None included: "hidden-size"
  std::vector<LoggedInterval> intervals;
  std::vector<LoggedMemory> memory;
  std::size_t blocks = 0;        // of arguments: starts of the job
  bool forgets = false;          // every line is of its own iterations alone (torchtitan)
  std::size_t torn_rows = 0;     // of timers, which other lines ran into
  std::size_t other_tables = 0;  // of timers, more or fewer than lines of iterations, that have no line to belong to
  bool cut = false;              // the last line is one of an iteration and ends within it: it is left out
  // What nvidia-smi calls the GPU, with its memory: "Tesla V100-SXM2... 32GB"; "" where it did not run.
  std::string device;
};

// Whether the text has such a block of arguments.
[[nodiscard]] bool is_megatron_log(std::string_view text);

// Of several blocks (a job that was restarted) the last, and what follows it.
[[nodiscard]] MegatronLog read_megatron_log(std::string_view text);

}  // namespace debubble
