// The flags of `debubble profile`, as typed, and the two modes it has.
#pragma once

#include <string>
#include <vector>

#include "studies/measure/sizes.hpp"
#include "tools/flags/attribution_flags.hpp"
#include "tools/output/output.hpp"

namespace debubble {

struct ProfileFlags {
  std::string model;  // a preset, or a config.json
  SizeFlags sizes;
  std::optional<int> iterations;
  std::string device = "0";  // index of the GPU, or "cpu" for a program
  bool self_check = false;
  bool calibrate = false;  // of the machine itself, for a file of hardware
  std::string checks;      // where the comparison with event times goes; empty: nowhere
  AttributionFlags attribution;
  std::string overhead = "least";
  bool overhead_run = false;  // the program once more, without CUPTI
  std::string file;           // -o: where the profile goes; empty: a name made from what is measured
  std::string keep_records;
  OutputFlags shown;  // the result on stdout; `output` is not used
};

[[nodiscard]] inline bool on_cpu(const ProfileFlags& flags) { return flags.device == "cpu"; }

// The index of a GPU that --device names. Throws InputError (C012).
[[nodiscard]] int gpu_index(const std::string& device);

// A built-in transformer on this machine's GPU, in one size or several. Exit status.
[[nodiscard]] int profile_model(const ProfileFlags& flags);

// What this machine is as a file of hardware (studies/hardware/calibrate.hpp). Exit status.
[[nodiscard]] int calibrate_this_machine(const ProfileFlags& flags);

// A program under injection. Exit status: 0; 1 when the program did not end well; 130 when it was interrupted.
[[nodiscard]] int profile_program(const ProfileFlags& flags, const std::vector<std::string>& program);

}  // namespace debubble
