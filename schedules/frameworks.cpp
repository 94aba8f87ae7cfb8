#include "schedules/frameworks.hpp"

#include <algorithm>
#include <cctype>

#include "sim/core/numbers.hpp"

namespace debubble {

namespace {

struct FrameworkNames {
  const char* name;
  std::array<std::string_view, 4> words;  // letters and digits only
};

constexpr std::array<FrameworkNames, 4> kNames{{{"Megatron-LM", {"megatron", "megatronlm", "megatroncore", "mcore"}},
                                                {"torchtitan", {"torchtitan", "titan", "", ""}},
                                                {"DeepSpeed", {"deepspeed", "", "", ""}},
                                                {"PyTorch", {"pytorch", "torch", "torchpipelining", ""}}}};

}  // namespace

std::optional<std::string> framework_named(std::string_view word) {
  std::string plain;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  if (plain.empty()) return std::nullopt;
  for (const FrameworkNames& one : kNames) {
    if (std::find(one.words.begin(), one.words.end(), plain) != one.words.end()) return one.name;
  }
  return std::nullopt;
}

bool names_framework(const std::string& frameworks, const std::string& framework) {
  constexpr std::string_view kFork = "fork of ";
  for (std::size_t at = frameworks.find(framework); at != std::string::npos; at = frameworks.find(framework, at + 1)) {
    const bool fork = at >= kFork.size() && frameworks.compare(at - kFork.size(), kFork.size(), kFork) == 0;
    if (!fork) return true;
  }
  return false;
}

bool has_large_groups(const std::string& schedule, const std::string& group, int devices) {
  return schedule == "interleaved" && number_of(group).value_or(0) > devices;
}

P2p transfers_in(const std::string& framework, const std::string& schedule, bool large_groups) {
  const bool pytorch = framework == "PyTorch" || framework == "torchtitan";
  if (schedule == "1f1b" && (pytorch || framework == "Megatron-LM")) return P2p::kCoupled;
  if (framework == "Megatron-LM" && large_groups) return P2p::kJoined;
  if (framework == "DeepSpeed") return P2p::kRendezvous;
  return pytorch ? P2p::kLate : P2p::kOverlapped;
}

}  // namespace debubble
