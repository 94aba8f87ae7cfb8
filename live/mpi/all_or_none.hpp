// Preparations that may fail on some ranks only: all go on, or all end with the words of one.
#pragma once

#include <functional>

#include "live/mpi/control_line.hpp"

namespace debubble::live {

// Call in every rank. Runs `work`; throws the failure of the lowest rank that had one, in all.
void all_or_none(MessagePassing& passing, ControlLine& line, const std::function<void()>& work);

}  // namespace debubble::live
