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

constexpr std::array<FrameworkNames, 11> kNames{{{"Megatron-LM", {"megatron", "megatronlm", "megatroncore", "mcore"}},
                                                 {"torchtitan", {"torchtitan", "titan", "", ""}},
                                                 {"DeepSpeed", {"deepspeed", "", "", ""}},
                                                 {"PyTorch", {"pytorch", "torch", "torchpipelining", ""}},
                                                 {"Primus", {"primus", "", "", ""}},
                                                 {"PaddlePaddle", {"paddle", "paddlepaddle", "fleet", ""}},
                                                 {"MindSpeed", {"mindspeed", "", "", ""}},
                                                 {"MindSpore", {"mindspore", "", "", ""}},
                                                 {"MaxText", {"maxtext", "", "", ""}},
                                                 {"ColossalAI", {"colossalai", "colossal", "", ""}},
                                                 {"nanotron", {"nanotron", "", "", ""}}}};

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
  constexpr std::array<std::string_view, 3> kBefore{", ", "; ", " and "};
  const std::string_view own = std::string_view(frameworks).substr(0, frameworks.find("; with other rows: "));
  for (std::size_t at = own.find(framework); at != std::string_view::npos; at = own.find(framework, at + 1)) {
    const std::string_view before = own.substr(0, at);
    const auto ends = [&](std::string_view word) { return before.ends_with(word); };
    if (at == 0 || std::any_of(kBefore.begin(), kBefore.end(), ends)) return true;
  }
  return false;
}

std::string_view own_order(std::string_view framework, std::string_view schedule) {
  const bool pytorch = framework == "PyTorch" || framework == "torchtitan";
  const bool paddle = framework == "PaddlePaddle";
  if (pytorch && schedule == "interleaved") return "rounding=pytorch";
  const bool ascends = (schedule == "gpipe" && (pytorch || paddle || framework == "nanotron")) ||
                       (schedule == "breadth-first" && paddle);
  return ascends ? "backward=ascending" : "";
}

bool has_large_groups(const std::string& schedule, const std::string& group, int devices) {
  return schedule == "interleaved" && number_of(group).value_or(0) > devices;
}

P2p transfers_in(const std::string& framework, const std::string& schedule, bool large_groups) {
  const bool pytorch = framework == "PyTorch" || framework == "torchtitan";
  const bool megatron = framework == "Megatron-LM" || framework == "Primus" || framework == "MindSpeed";
  if (schedule == "1f1b" && (pytorch || megatron)) return P2p::kCoupled;
  if (megatron && large_groups) return P2p::kJoined;
  if (framework == "DeepSpeed") return P2p::kRendezvous;
  return pytorch ? P2p::kLate : P2p::kOverlapped;
}

}  // namespace debubble
