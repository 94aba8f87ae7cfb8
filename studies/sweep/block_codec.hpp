// A block of rows as the bytes of a message between the processes of a sweep.
#pragma once

#include "live/mpi/message_codec.hpp"
#include "studies/sweep/block.hpp"

namespace debubble {

void write(live::MessageWriter& writer, const SweepBlock& block);
// Of what `write` wrote.
[[nodiscard]] SweepBlock read_swept_block(live::MessageReader& reader);

}  // namespace debubble
