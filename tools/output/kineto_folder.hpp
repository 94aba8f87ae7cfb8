// A run as Kineto's traces, a file for each rank in one folder (formats/exporters/kineto_trace.hpp).
#pragma once

#include <string>

#include "studies/simulate/simulate.hpp"

namespace debubble {

// Throws InputError C004 where `folder` is "-": several files cannot go to stdout.
void require_kineto_folder(const std::string& folder);

// Writes rank_0.json.gz, rank_1.json.gz, ... into `folder`, which is made if it is not there: all of them or none. The
// run must have a timeline. Throws InputError: C050 when there are other traces in it, or it cannot be made; C051.
void write_kineto_folder(const Simulated& run, const std::string& command_line, const std::string& folder);

}  // namespace debubble
