// Calibration: constants by hardware and number format that are fitted over sources, `debubble.calibration/2`.
//
// A constant divides all compute times of modelled transformers: what `--calibrate compute=` of simulate takes. One is
// fitted over all sources with records on the hardware in the format, and one for each of these sources with its
// records left out, by which that source is judged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "studies/accuracy/results_file.hpp"

namespace debubble {

// What a constant is of: "h100" and "fp8".
struct HardwareFormat {
  std::string hardware;
  std::string format;

  [[nodiscard]] bool empty() const { return hardware.empty(); }
  friend bool operator==(const HardwareFormat&, const HardwareFormat&) = default;
};

// Of a record that names its --hardware and trains a --model; else empty. Formats: those of --dtype, and for fp8 with
// scales of blocks "fp8-blockwise" and "mxfp8".
[[nodiscard]] HardwareFormat machine_of(const ResultRecord& record);

struct FittedConstant {
  HardwareFormat machine;
  std::string left_out;  // the source whose records play no part in it; empty: none is left out
  double compute = 1;
  int records = 0;  // that it is fitted to
  int sources = 0;  // that they are of

  friend bool operator==(const FittedConstant&, const FittedConstant&) = default;
};

using Calibrations = std::vector<FittedConstant>;  // by hardware, format, left-out source

// Null where no other source has such records.
[[nodiscard]] const FittedConstant* constant_without(const Calibrations& calibrations, const HardwareFormat& machine,
                                                     const std::string& source);

// "compute=0.975": the flag's value.
[[nodiscard]] std::string flag_text(const FittedConstant& constant);

// Throws InputError with everything that is wrong with it.
[[nodiscard]] Calibrations read_calibrations(std::string_view text, const std::string& file);

}  // namespace debubble
