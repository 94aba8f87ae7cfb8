// `debubble profile`: layer times and sizes, measured on this machine's GPU. Of a built-in transformer (--model), or of
// any program under injection (-- python train.py ...); of a PyTorch script on the CPU, too (--device cpu).
#pragma once

#include <memory>

#include "tools/commands/command.hpp"

namespace debubble {

[[nodiscard]] std::unique_ptr<Command> make_profile();

}  // namespace debubble
