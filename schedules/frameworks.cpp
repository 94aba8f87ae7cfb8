#include "schedules/frameworks.hpp"

#include <algorithm>
#include <cctype>

namespace debubble {

namespace {

struct FrameworkNames {
  const char* name;
  std::array<std::string_view, 4> words;  // letters and digits only
  const char* refuses;                    // how a schedule's note begins that this one refuses the input
};

constexpr std::array<FrameworkNames, 4> kNames{
    {{"Megatron-LM", {"megatron", "megatronlm", "megatroncore", "mcore"}, "Megatron Core refuses"},
     {"torchtitan", {"torchtitan", "titan", "", ""}, "PyTorch's "},
     {"DeepSpeed", {"deepspeed", "", "", ""}, "DeepSpeed refuses"},
     {"PyTorch", {"pytorch", "torch", "torchpipelining", ""}, "PyTorch's "}}};

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

bool runs_schedule(const ScheduleEntry& entry, const std::vector<std::string>& notes, const std::string& framework) {
  if (!names_framework(entry.frameworks, framework)) return false;
  const auto* const names =
      std::find_if(kNames.begin(), kNames.end(), [&](const FrameworkNames& one) { return one.name == framework; });
  return names == kNames.end() || std::none_of(notes.begin(), notes.end(), [&](const std::string& note) {
           return note.starts_with(names->refuses) && note.find(" refuses") != std::string::npos;
         });
}

}  // namespace debubble
