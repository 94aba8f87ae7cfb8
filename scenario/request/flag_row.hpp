// How a row of a flag is written: its names as CLI11 has them, what it takes, its help, where its value goes, and what
// else there is to say, in any order. A switch takes nothing.
//
//     const FlagGroup row("Run");
//     return {
//         row("-p,--devices,--pp", "P", "devices in the pipeline", &flags.devices, Default{"4"}),
//         row("--p2p", OneOf{"auto|blocking"}, "how sends meet compute", &flags.p2p, Preset{"auto"}),
//         row("--front", "also the Pareto front", &flags.front),
//     };
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble {

// The only values.
struct OneOf {
  std::string_view words;
};
// As the help says it.
struct Default {
  std::string_view text;
};
// What the target holds while the flag is not given.
struct Preset {
  std::string_view text;
};
struct Excludes {
  FlagRule rule;
};
enum class FlagMark : std::uint8_t { kRequired, kOfSchedule, kNotRepeated };

[[nodiscard]] inline FlagRule needs(std::vector<std::string_view> others, const char* message, const char* help) {
  return {std::move(others), "C004", message, help};
}
[[nodiscard]] inline Excludes excludes(std::vector<std::string_view> others, const char* message) {
  return {{std::move(others), "C009", message, "give one of them"}};
}

namespace row_parts {

inline void say(Flag& flag, const char* type) { flag.type = type; }
inline void say(Flag& flag, FlagUnit unit) { flag.unit = unit; }
inline void say(Flag& flag, OneOf only) { flag.words = only.words; }
inline void say(Flag& flag, FlagNames names) { flag.names = names; }
inline void say(Flag& flag, Default shown) { flag.default_text = shown.text; }
inline void say(Flag& flag, Preset held) { flag.preset = held.text; }
inline void say(Flag& flag, FlagCount count) { flag.count = count; }
inline void say(Flag& flag, FlagForm form) { flag.form = form; }
inline void say(Flag& flag, bool* given) { flag.given = given; }
inline void say(Flag& flag, FlagRule needed) { flag.needs = std::move(needed); }
inline void say(Flag& flag, Excludes excluded) { flag.excludes = std::move(excluded.rule); }
inline void say(Flag& flag, FlagMark mark) {
  if (mark == FlagMark::kRequired) flag.required = true;
  if (mark == FlagMark::kOfSchedule) flag.of_schedule = true;
  if (mark == FlagMark::kNotRepeated) flag.repeated = false;
}

}  // namespace row_parts

// Rows under one heading of the help, without a name under its first; what each of them needs unless it says otherwise.
class FlagGroup {
 public:
  explicit FlagGroup(std::string_view name = {}, FlagRule needed = {}) : name_(name), needs_(std::move(needed)) {}

  template <typename... More>
  [[nodiscard]] Flag operator()(std::string_view names, std::string_view help, FlagTarget target, More... more) const {
    Flag flag = named(names);
    flag.group = name_;
    flag.help = help;
    flag.target = target;
    flag.needs = needs_;
    (row_parts::say(flag, std::move(more)), ...);
    return flag;
  }
  template <typename Takes, typename... More>
  [[nodiscard]] Flag operator()(std::string_view names, Takes takes, std::string_view help, FlagTarget target,
                                More... more) const {
    return (*this)(names, help, target, takes, std::move(more)...);
  }

 private:
  // "-p,--devices,--pp": a short name, the name, other names.
  [[nodiscard]] static Flag named(std::string_view names) {
    Flag flag;
    const auto take = [&names](std::string_view& name) {
      const std::size_t end = std::min(names.find(','), names.size());
      name = names.substr(0, end);
      names.remove_prefix(std::min(end + 1, names.size()));
    };
    if (names.starts_with("-") && !names.starts_with("--")) take(flag.short_name);
    take(flag.name);
    flag.alias = names;
    return flag;
  }

  std::string_view name_;
  FlagRule needs_;
};

}  // namespace debubble
