// Variables, and what is not known about them.
#include <algorithm>
#include <array>
#include <utility>

#include "formats/shell/expansion.hpp"
#include "formats/shell/machine.hpp"

namespace debubble::shell {
namespace {

constexpr std::array<std::string_view, 6> kOfTheShell{"RANDOM",  "SECONDS", "LINENO",
                                                      "BASHPID", "SRANDOM", "EPOCHSECONDS"};

std::string with_marks(const std::vector<int>& causes) {
  std::string all;
  for (const int cause : causes) all += mark(cause);
  return all;
}

}  // namespace

void Machine::note(const std::string& text, int line) {
  if (noted_.insert(text).second && noted_.size() < 200) notes_.push_back(Note{text, line});
}

void Machine::set_elsewhere(const std::string& by) {
  note(by + ": what it sets is not known", line_);
  source_missing_ = true;
}

void Machine::note_unset(const std::string& name, const std::string& value) {
  if (unset_.size() < 200) unset_.emplace((name[0] >= '0' && name[0] <= '9' ? "$" : "") + name, value);
}

std::string Machine::script_name() const { return zero_; }

std::string Machine::mark_of(const std::vector<int>& causes, const std::string& what) {
  std::vector<int> all = causes;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return mark(unknowns_.derived(all, what, line_));
}

std::string Machine::outside_mark(const std::string& name) {
  const bool number = name[0] >= '0' && name[0] <= '9';
  return mark(number ? unknowns_.positional(name, line_) : unknowns_.variable(name, line_));
}

ParameterValue Machine::unset_variable(const std::string& name, bool list) {
  ParameterValue value{.list = list, .script = true};
  if (name == "PWD") return ParameterValue{true, false, false, true, {state_.folder}};
  if (name == "BASH_SOURCE")
    return ParameterValue{true, false, false, true, {sources_.empty() ? zero_ : sources_.back()}};
  if (name == "IFS") return ParameterValue{true, false, false, true, {" \t\n"}};
  if (name == "OPTIND") return ParameterValue{true, false, false, true, {"1"}};
  if (std::find(kOfTheShell.begin(), kOfTheShell.end(), name) != kOfTheShell.end()) {
    return ParameterValue{true, false, false, true, {mark_of({}, "$" + name)}};
  }
  if (given_.whole_environment && !source_missing_) return value;
  if (own_names_.contains(name)) {
    if (!list) note_unset(name, "");
    return value;
  }
  if (list && !source_missing_) {  // no environment has arrays
    note_unset(name, "");
    return value;
  }
  value.script = false;
  if (list) value.words = {outside_mark(name)};
  return value;
}

Variable& Machine::variable(const std::string& name) { return state_.variables[name]; }

std::string Machine::value_of(const std::string& name, const std::string& index) {
  Part part;
  part.kind = Part::Kind::kParameter;
  part.quoted = true;
  part.text = name;
  if (!index.empty()) {
    Word word;
    word.parts.push_back(Part{.text = index});
    part.index = std::make_shared<const Word>(std::move(word));
  }
  Word word;
  word.parts.push_back(std::move(part));
  return single(word);
}

std::string Machine::separators() { return state_.variables.contains("IFS") ? value_of("IFS") : " \t\n"; }

std::string Machine::target_of(const std::string& name) const {
  std::string target = name;
  for (int depth = 0; depth < 20; ++depth) {
    const auto found = state_.variables.find(target);
    if (found == state_.variables.end() || found->second.refers_to.empty()) return target;
    target = found->second.refers_to;
  }
  throw SyntaxError(line_, "`" + name + "` of `local -n` refers to itself");
}

void Machine::refer(const std::string& name, const std::string& target) {
  if (target.empty() || has_mark(target) || target.find('[') != std::string::npos) {
    throw SyntaxError(line_, "what `local -n " + name + "` refers to cannot be followed");
  }
  state_.variables[name] = Variable{.refers_to = target};
}

void Machine::assign(const std::string& alias, const std::string& value, bool append, const std::string& index) {
  const std::string name = target_of(alias);
  spend(1 + value.size() / 32);
  std::string given = value;
  if (has_mark(value)) {
    const auto set = given_.variables.find(name);
    if (set != given_.variables.end() && !append && index.empty()) {
      given = set->second;
    } else if (is_mark(value)) {
      unknowns_.name_setter(marks(value).front(), name);
    }
  }
  Variable& target = state_.variables[name];
  if (state_.exports_all) target.exported = true;
  if (target.integer) {
    const auto before = target.items.find(0);
    const bool adds = append && index.empty() && before != target.items.end();
    const ArithmeticResult result = arithmetic(adds ? before->second + "+(" + given + ")" : given);
    given = result.known ? std::to_string(result.value) : with_marks(result.causes);
    if (adds) {
      state_.variables[name].items[0] = given;
      return;
    }
  }
  if (target.has_keys && !index.empty()) {
    std::string& item = target.keyed[index];
    item = append ? item + given : given;
    return;
  }
  std::int64_t at = 0;
  if (!index.empty()) {
    const ArithmeticResult where = arithmetic(index);
    target.array = true;
    if (!where.known) {  // one of them changes
      target.items = {{0, mark_of(where.causes, "the items of " + name)}};
      return;
    }
    at = where.value;
    if (at < 0 && !target.items.empty()) at += target.items.rbegin()->first + 1;
    if (at < 0 || at > 1'000'000) throw CommandFailure{};
  }
  std::string& item = target.items[at];
  item = append ? item + given : given;
  if (item.size() > 4'000'000) throw SyntaxError(line_, "a value is longer than 4,000,000 characters");
}

void Machine::assign(const Assignment& assignment) {
  if (!assignment.array) {
    const std::string index = assignment.index ? single(*assignment.index) : "";
    return assign(assignment.name, single(assignment.value), assignment.append, index);
  }
  Variable fresh;
  const std::string name = target_of(assignment.name);
  const auto found = state_.variables.find(name);
  const bool keyed = found != state_.variables.end() && found->second.has_keys;
  fresh.exported = found != state_.variables.end() && found->second.exported;
  if (assignment.append && found != state_.variables.end()) fresh = found->second;
  fresh.array = true;
  fresh.has_keys = keyed;
  std::int64_t next = fresh.items.empty() ? 0 : fresh.items.rbegin()->first + 1;
  for (const ArrayItem& item : assignment.items) {
    if (!item.index) {
      for (std::string& word : fields(item.value)) {
        spend(1);
        fresh.items[next++] = std::move(word);
      }
      continue;
    }
    const std::string index = single(*item.index);
    if (keyed) {
      fresh.keyed[index] = single(item.value);
      continue;
    }
    const ArithmeticResult where = arithmetic(index);
    if (!where.known || where.value < 0 || where.value > 1'000'000) throw CommandFailure{};
    next = where.value;
    fresh.items[next++] = single(item.value);
  }
  state_.variables[name] = std::move(fresh);
}

void Machine::unset(const std::string& alias, const std::string& index) {
  const std::string name = target_of(alias);
  const auto found = state_.variables.find(name);
  own_names_.insert(name);  // from here on it is known to be unset
  if (found == state_.variables.end()) return;
  if (index.empty()) {
    state_.variables.erase(found);
  } else if (found->second.has_keys) {
    found->second.keyed.erase(index);
  } else {
    const ArithmeticResult where = arithmetic(index);
    if (where.known) found->second.items.erase(where.value);
  }
}

ArithmeticResult Machine::arithmetic(const std::string& text) {
  spend(1 + text.size() / 16);
  ArithmeticVariables variables;
  variables.read = [this](const std::string& name, const std::string& index) { return value_of(name, index); };
  variables.write = [this](const std::string& name, const std::string& index, const std::string& value) {
    std::string one = value;
    if (has_mark(one) && !is_mark(one)) one = mark_of(marks(one), "a number");
    assign(name, one, false, index);
  };
  try {
    const std::string plain = expanded(text);
    ArithmeticResult result = evaluate_arithmetic(plain, variables);
    if (result.known) return result;
    // Each reading may come to the same.
    const std::vector<std::string> readings = unknowns_.readings(plain);
    if (readings.size() < 2) return result;
    std::optional<std::int64_t> same;
    for (const std::string& reading : readings) {
      const ArithmeticResult one = evaluate_arithmetic(reading, variables);
      if (!one.known || (same && *same != one.value)) return result;
      same = one.value;
    }
    return ArithmeticResult{.value = *same};
  } catch (const ArithmeticError&) {
    throw CommandFailure{};
  }
}

}  // namespace debubble::shell
