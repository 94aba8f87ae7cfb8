// A model's sizes as Megatron-LM's arguments.
#pragma once

#include "studies/paste/fields.hpp"

namespace debubble {

void write_megatron_model(const RunToPaste& run, PastePart& part);

}  // namespace debubble
