// Calibration: at most two numbers per source that are fitted to half of its records, `debubble.calibration/1`.
//
// They divide all compute times, and all times of collectives and transfers: what `--calibrate` of simulate takes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

struct Calibration {
  double compute = 1;
  double network = 1;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

using Calibrations = std::map<std::string, Calibration>;  // by source

// "compute=0.975,network=0.8": the flag's value.
[[nodiscard]] std::string flag_text(const Calibration& calibration);

// Throws InputError with everything that is wrong with it.
[[nodiscard]] Calibrations read_calibrations(std::string_view text, const std::string& file);
[[nodiscard]] std::string calibrations_json(const Calibrations& calibrations);

}  // namespace debubble
