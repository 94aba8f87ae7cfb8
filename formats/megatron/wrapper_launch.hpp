// Programs that start Megatron-LM with arguments of their own, whose model's sizes lie in its config.json: ms-swift
// ("megatron sft") and verl.
#pragma once

#include <string>
#include <vector>

#include "formats/shell/evaluator.hpp"

namespace debubble {

// "ms-swift", "verl"; empty for Megatron-LM itself and programs like it.
[[nodiscard]] std::string wrapper_name(const std::string& program);

// Its arguments as Megatron-LM's; those of other programs stay.
void reword_launch(shell::Launch& launch);

// What such a tool trains beside, or only in part (F033).
void refuse_wrapped(const std::string& program, const std::vector<std::string>& arguments, const std::string& place);

}  // namespace debubble
