// The clocks of several ranks, aligned by the messages between them.
//
//     rank 0  ----[send]---------------[recv]----        nothing is received before it is sent, so each message from a
//                      \              /                  to b bounds the difference of their clocks from one side:
//     rank 1  ----------[recv]--[send]-----------            offset b - offset a >= begin of send - end of receive
//
// Messages in both directions bound it from both sides. The middle of the tightest bounds is taken (as NTP does: it
// would be exact if the fastest messages took equally long in both directions), and half their distance is the error
// that may remain. A pipeline has both directions between neighbours: activations and gradients. Ranks further apart
// are joined over the neighbours with the least error in sum; errors add up along that path. Clocks are taken to run
// equally fast.
//
// Where nobody saw the arrival itself, only something later (`late`), the middle has no such reason: clocks that agree
// within the bounds as they are stay as they are, and the farther bound is the error. Bounds that contradict each other
// conclude nothing: then, too, the clocks stay.
#pragma once

#include <string>
#include <vector>

#include "sim/core/run_record.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// One message as its two ends saw it, each by its own clock.
struct MessageTimes {
  int from = 0;
  int to = 0;
  Nanoseconds send_begin = 0;
  Nanoseconds send_end = 0;
  Nanoseconds receive_begin = 0;
  Nanoseconds receive_end = 0;  // the arrival, or
  bool late = false;            // something that cannot end before it
};

// Offsets that are added to each rank's times; rank 0's is 0. `residual` holds between every two ranks. Where messages
// in both directions do not join all of them the clocks are not bounded, the method is "not aligned", and a note says
// which: with messages in one direction only, clocks are moved no more than it takes to receive nothing before it was
// sent.
[[nodiscard]] ClockAlignment align_clocks(int ranks, const std::vector<MessageTimes>& messages,
                                          std::vector<std::string>& notes);

}  // namespace debubble
