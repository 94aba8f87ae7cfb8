// Why a program left no times of its layers on the CPU, as the error that its user gets.
#pragma once

#include <optional>

#include "sim/core/error.hpp"
#include "studies/measure/recordings.hpp"

namespace debubble {

// What a process complained of. Throws UnavailableError for what the machine lacks (U codes), else InputError.
[[noreturn]] void throw_trouble(const Diagnostic& trouble);

// Of the processes, or of --rank. Returns where that explains nothing. Throws as throw_trouble, and InputError C012
// where no process of this rank was recorded.
void throw_what_was_said(const Recordings& recordings, const std::optional<int>& rank);

// The most likely reason, with what the processes said themselves first. Throws UnavailableError (U003, U009, U041) and
// InputError: C012 no process of this rank, A002 no debubble_hooks in the program, A003 no training step.
[[noreturn]] void nothing_timed(const Recordings& recordings, const std::optional<int>& rank);

}  // namespace debubble
