// What becomes of one word: its parts are replaced, split into words where they are not quoted, or kept as a pattern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/shell/machine.hpp"

namespace debubble::shell {

// What a parameter has: one value, or the list of "$@" and "${A[@]}".
struct ParameterValue {
  bool set = false;
  bool list = false;
  bool joins = false;   // $*, ${A[*]}: one word in quotes
  bool script = false;  // the script gave it, or its absence is known
  Strings words{};
};

class Expansion {
 public:
  enum class Mode { kFields, kSingle, kPattern, kRegex };

  Expansion(Machine& machine, Mode mode) : machine_(machine), mode_(mode) {}

  void word(const Word& word);
  // The words; of all modes but kFields one.
  Strings finish();

 private:
  void part(const Part& part, bool first);
  void parameter(const Part& part);
  void substituted(const Command& body);
  void text(std::string_view text, bool quoted);
  void value(const std::string& text, bool quoted);  // of something that was replaced
  void list(const Strings& words, bool quoted, bool joins);
  void split(const std::string& text);
  void end_field();
  std::string tilde(const std::string& text, bool first) const;

  // expansion_parameters.cpp
  ParameterValue look_up(const Part& part);
  ParameterValue special(const std::string& name);
  ParameterValue indirect(const Part& part);
  bool stand_in(const Part& part, ParameterValue& value);
  void operate(const Part& part, ParameterValue& value);
  void slice(const Part& part, ParameterValue& value);
  std::string operated(const Part& part, const std::string& text);
  void replace_unknown(ParameterValue& value, const Part& part);
  void text_nothing();  // an empty word in quotes is one

  Machine& machine_;
  Mode mode_;
  Strings fields_;
  std::string field_;
  bool has_field_ = false;
  bool splits_text_ = false;  // in the word of ${name:-word}
};

}  // namespace debubble::shell
