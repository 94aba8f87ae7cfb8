// Preparations that may fail on some ranks only: all ranks go on, or all throw the same failure.
#pragma once

#include <functional>

#include "live/mpi/control_channel.hpp"

namespace debubble::live {

// Call in every rank. Runs `work`; throws on all ranks the failure that reached rank 0 first; its own comes before all
// others.
void all_or_none(MessagePassing& passing, ControlChannel& channel, const std::function<void()>& work);

// For work that needs the other ranks: calls `poll` until it returns true. Once a rank has failed, no rank's `poll` is
// called any more, so none waits for the one that failed. `poll` must not block, nor use `channel`.
void all_or_none_polling(MessagePassing& passing, ControlChannel& channel, const std::function<bool()>& poll);

}  // namespace debubble::live
