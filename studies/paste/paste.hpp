// What a framework is told so that it does a run: arguments, what must not be among them, the environment, and what of
// the run it cannot be told.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

struct PastedFlag {
  std::string name;                 // "--bf16"; of DeepSpeed the path of a key: "zero_optimization.stage"
  std::vector<std::string> values;  // none: the name alone

  friend bool operator==(const PastedFlag&, const PastedFlag&) = default;
};

// What the run's flag `field` became.
struct PastePart {
  std::string_view field;  // "--tp"
  std::string_view owned;  // all arguments by which a script may say this, joined by blanks
  std::vector<PastedFlag> flags;
  std::vector<std::string> notes;
  std::string refusal;  // why the framework cannot do it; empty: it can

  void flag(std::string name) { flags.push_back({std::move(name), {}}); }
  void word(std::string name, std::string value) { flags.push_back({std::move(name), {std::move(value)}}); }
  void value(std::string name, std::int64_t number) { word(std::move(name), std::to_string(number)); }
  void note(std::string text) { notes.push_back(std::move(text)); }
};

struct Paste {
  std::string framework;                                         // "Megatron-LM"
  std::vector<std::pair<std::string, std::string>> environment;  // variables of the launch
  std::vector<PastedFlag> model;                                 // its sizes, which a script has already
  std::vector<PastePart> parts;                                  // the run's
  std::vector<std::string> notes;                                // what else it needs, and what it does not do
  std::string refusal;                                           // why it cannot run this; empty: it can
  bool of_own_best = false;  // of the best that it runs, since it does not run the best

  [[nodiscard]] std::vector<PastedFlag> flags() const;  // of the run
  // Arguments that another run's script may have, and this one must not.
  [[nodiscard]] std::vector<std::string> removed() const;
  // DeepSpeed's JSON, or arguments with `separator` between them; without the model's where they are not asked for.
  [[nodiscard]] std::string text(char separator, bool with_model) const;
};

// `framework` is one of kFrameworks; `flags` are those that `scenario` and `job` were made of.
[[nodiscard]] Paste make_paste(const std::string& framework, const ScenarioFlags& flags, const Scenario& scenario,
                               const Job& job);

}  // namespace debubble
