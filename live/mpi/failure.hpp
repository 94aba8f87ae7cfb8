// Failure: an exception of one rank, reported to all, so that every rank ends with the same.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "live/mpi/message_codec.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {

struct Failure {
  enum class Kind : std::uint8_t { kInput, kUnavailable, kWrongData, kOther };
  Kind kind = Kind::kOther;
  std::vector<Diagnostic> diagnostics;  // kInput, kUnavailable
  std::string text;                     // kWrongData, kOther
};

// Of the exception. `who` ("rank 2 on host b") goes in front of what only that rank can have seen.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error, const std::string& who);
[[noreturn]] void raise(const Failure& failure);

auto members(Like<Failure> auto& failure) {
  auto& [kind, diagnostics, text] = failure;
  return std::tie(kind, diagnostics, text);
}

}  // namespace debubble::live
