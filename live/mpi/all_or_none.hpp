// Preparations that may fail on some ranks only: all go on, or all end with the words of one.
#pragma once

#include <functional>

#include "live/mpi/control_line.hpp"

namespace debubble::live {

// Call in every rank. Runs `work`; throws the failure that rank 0 hears of first, its own before all others, in all.
void all_or_none(MessagePassing& passing, ControlLine& line, const std::function<void()>& work);

// For what needs the other ranks: calls `turn` again and again until it returns true. Once a rank has failed, no rank's
// `turn` is called any more, so none waits for the one that failed. `turn` must not block, nor use `line`.
void all_or_none_by_turns(MessagePassing& passing, ControlLine& line, const std::function<bool()>& turn);

}  // namespace debubble::live
