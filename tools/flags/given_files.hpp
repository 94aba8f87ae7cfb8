// A file that was given where another kind is read.
#pragma once

#include <span>
#include <string>

#include "scenario/request/flag.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// The same error, or where it comes of a file of another kind than what it was given to takes: what the file is and
// what takes it. `arguments` begin with the verb.
[[nodiscard]] InputError told_by_kind(const InputError& error, std::span<const Flag> rows,
                                      std::span<const std::string> arguments);

}  // namespace debubble
