// Programs that start Megatron-LM with arguments of their own, whose model's sizes lie in its config.json: ms-swift
// ("megatron sft") and verl.
#pragma once

#include <string>

#include "formats/megatron/wrapper_words.hpp"
#include "formats/shell/evaluator.hpp"

namespace debubble {

// "ms-swift", "verl"; empty for Megatron-LM itself and programs like it.
[[nodiscard]] std::string wrapper_name(const std::string& program);

// Makes its arguments Megatron-LM's; those of other programs stay.
[[nodiscard]] WrapperWords reword_launch(shell::Launch& launch);

// The file that tells ms-swift or LLaMA-Factory how it trains; empty: none does.
[[nodiscard]] std::string config_of_wrapper(const shell::Launch& launch);

}  // namespace debubble
