// From the machine at hand to a file of hardware: products over many shapes, passes over memory, launches.
//
// Where the device is one that debubble knows, peaks, bandwidth and links are its data sheet's, and what was measured
// are shares of these; else the fastest product and the bandwidth of passes stand for the peaks, and say so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "studies/hardware/probe.hpp"
#include "studies/hardware/products.hpp"

namespace debubble {

struct CalibratedHardware {
  std::string hardware;  // the text of the file
  std::string kernels;   // of the table beside; empty: none, for no 16-bit product was measured
  std::vector<MeasuredProduct> products;
  std::vector<std::string> notes;
};

// `name` is the hardware's, `table` the file name of the table. `progress(done, total, what)`.
[[nodiscard]] CalibratedHardware calibrate_hardware(
    Probe& probe, const std::string& name, const std::string& table,
    const std::function<void(std::size_t, std::size_t, const std::string&)>& progress);

}  // namespace debubble
