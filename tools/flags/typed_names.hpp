// A flag has several names. An error speaks of it by the one that was typed.
#pragma once

#include <span>
#include <string>

#include "scenario/request/flag.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// "--microbatch-size" of places and remedies as "--mbs" where that was typed, and no other of its long names.
[[nodiscard]] InputError by_typed_names(const InputError& error, std::span<const Flag> rows,
                                        std::span<const std::string> arguments);

}  // namespace debubble
