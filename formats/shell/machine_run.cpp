// Control flow: lists, branches, loops, functions, subshells.
#include <algorithm>
#include <utility>

#include "formats/shell/machine.hpp"
#include "formats/shell/patterns.hpp"

namespace debubble::shell {
namespace {

using Kind = Command::Kind;

constexpr std::size_t kMostSteps = 2'000'000;
constexpr int kDeepestCall = 400;
constexpr int kTurnsNotKnown = 3;
constexpr std::size_t kMostParked = 200;

class Counted {
 public:
  explicit Counted(int& counter) : counter_(counter) { ++counter_; }
  ~Counted() { --counter_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted(Counted&&) = delete;
  Counted& operator=(Counted&&) = delete;

 private:
  int& counter_;
};

}  // namespace

void Machine::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ > kMostSteps) throw SyntaxError(line_, "the script takes more than 2,000,000 steps to follow");
}

Answer Machine::succeeded() const { return Answer{state_.status.code == 0, state_.status.known, state_.status.causes, state_.status.otherwise}; }

void Machine::finish(const Answer& answer) {
  state_.status = Status{answer.yes ? 0 : 1, answer.known, answer.known ? std::vector<int>{} : answer.causes,
                         answer.known ? -1 : answer.otherwise};
}

void Machine::finish_unknown(const std::string& what, const std::string& setter) {
  state_.status = Status{0, false, {unknowns_.add({.what = what, .setter = setter, .line = line_})}};
}

Flow Machine::branch(const Answer& answer, const std::function<Flow()>& yes, const std::function<Flow()>& no) {
  if (parked_.size() > kMostParked) throw SyntaxError(line_, "too much depends on what is not known");
  const std::vector<int>& causes = answer.causes;
  State before = state_;
  const std::size_t launches = before.launches.size();
  spend(1 + before.size() / 64);
  const int line = line_;
  const std::size_t parked = parked_.size();
  const Flow first = yes();
  State after = std::move(state_);
  const std::size_t parked_yes = parked_.size();
  state_ = std::move(before);
  const Flow second = no();
  const auto ends = [launches](const Flow& flow, const State& state) {
    return flow.kind == Flow::Kind::kExit && state.launches.size() == launches;
  };
  // Where one branch gives up, it is the other that somebody wants; else what a stranger's shell does.
  const bool gives_up = ends(first, after) != ends(second, state_);
  if (answer.otherwise >= 0 && !gives_up) {
    const bool takes_yes = answer.otherwise == 1;
    for (const int root : unknowns_.roots(causes)) {
      note_unset(unknowns_.at(root).setter, "");
    }
    const auto at = [this](std::size_t k) { return parked_.begin() + static_cast<std::ptrdiff_t>(k); };
    if (takes_yes) {
      parked_.erase(at(parked_yes), parked_.end());
      state_ = std::move(after);
      return first;
    }
    parked_.erase(at(parked), at(parked_yes));
    return second;
  }
  if (first == second) {
    spend(state_.size() / 64);
    merge(state_, after, causes, unknowns_, line);
    return first;
  }
  if (first.normal()) {
    parked_.push_back(Parked{second, std::move(state_), causes, line});
    state_ = std::move(after);
    return first;
  }
  parked_.push_back(Parked{first, std::move(after), causes, line});
  return second;
}

Flow Machine::when(const Answer& answer, const std::function<Flow()>& yes, const std::function<Flow()>& no) {
  if (answer.known) return answer.yes ? yes() : no();
  return branch(answer, yes, no);
}

// The outcomes since `from` that are accepted go on as one; the others stay where they are.
Flow Machine::settle(std::size_t from, Flow flow, const std::function<bool(const Flow&)>& accepts) {
  if (parked_.size() == from) return accepts(flow) ? Flow{} : flow;
  std::vector<Parked> outcomes(std::make_move_iterator(parked_.begin() + static_cast<std::ptrdiff_t>(from)),
                               std::make_move_iterator(parked_.end()));
  parked_.resize(from);
  bool going = accepts(flow);
  if (!going) outcomes.push_back(Parked{flow, std::move(state_), {}, line_});
  for (Parked& outcome : outcomes) {
    if (!accepts(outcome.flow)) {
      parked_.push_back(std::move(outcome));
    } else if (!going) {
      state_ = std::move(outcome.state);
      going = true;
    } else {
      merge(state_, outcome.state, outcome.causes, unknowns_, outcome.line);
    }
  }
  if (going) return Flow{};
  Parked last = std::move(parked_.back());
  parked_.pop_back();
  state_ = std::move(last.state);
  return last.flow;
}

Flow Machine::after(Flow flow) {
  const bool stops = flow.normal() && state_.stops_on_error && tested_ == 0 && state_.status.known &&
                     state_.status.code != 0;
  if (!stops) return flow;
  stopped_ = "set -e: a command fails";
  stopped_line_ = line_;
  return Flow{Flow::Kind::kExit};
}

Flow Machine::execute(const Command& command) {
  spend(1);
  const Counted depth(depth_);
  if (depth_ > kDeepestCall) throw SyntaxError(line_, "calls are nested more than 400 deep");
  line_ = command.line;
  const auto body = [&]() -> Flow {
    switch (command.kind) {
      case Kind::kSimple: return simple(command);
      case Kind::kPipeline: return pipeline(command);
      case Kind::kAnd:
      case Kind::kOr: return and_or(command);
      case Kind::kList: return list(command);
      case Kind::kIf: return if_from(command, 0);
      case Kind::kCase: {
        const std::string subject = single(command.words.front());
        finish(0);
        return case_from(command, 0, subject);
      }
      case Kind::kFor: return for_words(command);
      case Kind::kForArithmetic: return for_arithmetic(command);
      case Kind::kWhile: return while_loop(command);
      case Kind::kFunction:
        state_.functions[command.name] = command.children.front();
        finish(0);
        return {};
      case Kind::kSubshell:
        aside([&] { (void)execute(*command.children.front()); });
        return after({});
      case Kind::kGroup:
        if (command.background) {
          aside([&] { (void)execute(*command.children.front()); });
          finish(0);
          return {};
        }
        return execute(*command.children.front());
      case Kind::kTest:
        finish(test(command.test));
        return after({});
      case Kind::kArithmetic: {
        const ArithmeticResult result = arithmetic(command.arithmetic.front());
        finish(Answer{result.value != 0, result.known, result.causes});
        return after({});
      }
    }
    return {};
  };
  try {
    if (command.redirections.empty() || command.kind == Kind::kSimple) return body();
    return redirected(command, body);
  } catch (const CommandFailure& failure) {
    finish(failure.status);
    return after({});
  }
}

Flow Machine::list(const Command& command) {
  for (const CommandPointer& child : command.children) {
    const Flow flow = execute(*child);
    if (!flow.normal()) return flow;
  }
  return {};
}

void Machine::negate_status(const Command& command) {
  if (!command.negated) return;
  Status& status = state_.status;
  status.code = status.code == 0 ? 1 : 0;
  if (status.otherwise >= 0) status.otherwise = 1 - status.otherwise;
}

Flow Machine::pipeline(const Command& command) {
  if (command.children.size() == 1) {  // ! command
    const Counted tested(tested_);
    const Flow flow = execute(*command.children.front());
    negate_status(command);
    return flow;
  }
  const std::optional<std::string> input = state_.input;
  Status failed;
  for (std::size_t k = 0; k < command.children.size(); ++k) {
    const bool last = k + 1 == command.children.size();
    const auto stage = [&] { aside([&] { (void)execute(*command.children[k]); }); };
    const Counted tested(tested_);
    if (last) {
      stage();
    } else {
      const std::string text = caught(stage);
      state_.input = text;
    }
    if (!state_.status.known || state_.status.code != 0) failed = state_.status;
  }
  if (state_.fails_in_pipes) state_.status = failed;
  negate_status(command);
  state_.input = input;
  return command.negated ? Flow{} : after({});
}

Flow Machine::and_or(const Command& command) {
  Flow flow;
  {
    const Counted tested(tested_);
    flow = execute(*command.children[0]);
  }
  if (!flow.normal()) return flow;
  const auto right = [&] { return execute(*command.children[1]); };
  const auto left_only = [this, &command] {
    if (!state_.status.known) finish(command.kind == Kind::kAnd ? 1 : 0);
    return Flow{};
  };
  if (command.kind == Kind::kAnd) return when(succeeded(), right, left_only);
  return when(succeeded(), left_only, right);
}

Flow Machine::if_from(const Command& command, std::size_t at) {
  if (at + 1 == command.children.size()) return execute(*command.children[at]);  // else
  if (at >= command.children.size()) {
    finish(0);
    return {};
  }
  Flow flow;
  {
    const Counted tested(tested_);
    flow = execute(*command.children[at]);
  }
  if (!flow.normal()) return flow;
  return when(
      succeeded(), [&] { return execute(*command.children[at + 1]); }, [&] { return if_from(command, at + 2); });
}

Flow Machine::case_body(const Command& command, std::size_t at, const std::string& subject) {
  const CaseClause& clause = command.clauses[at];
  const Flow flow = execute(*clause.body);
  if (!flow.normal() || at + 1 >= command.clauses.size()) return flow;
  if (clause.end == ";&") return case_body(command, at + 1, subject);
  if (clause.end == ";;&") return case_from(command, at + 1, subject);
  return flow;
}

Flow Machine::case_from(const Command& command, std::size_t at, const std::string& subject) {
  for (; at < command.clauses.size(); ++at) {
    Answer answer;
    for (const Word& word : command.clauses[at].patterns) {
      const Answer one = matching(subject, pattern(word));
      if (one.known && !one.yes) continue;
      answer = one;
      if (one.known) break;
    }
    if (answer.known && !answer.yes) continue;
    return when(
        answer, [&] { return case_body(command, at, subject); }, [&] { return case_from(command, at + 1, subject); });
  }
  return {};
}

Answer Machine::matching(const std::string& text, const std::string& pattern) {
  spend(1 + text.size() / 16);
  if (pattern == "*") return Answer{true, true};
  std::vector<int> causes;
  bool any = false;
  bool all = true;
  for (const std::string& one : unknowns_.readings(text)) {
    if (has_mark(one) || has_mark(pattern)) {
      // Known ends of the text may tell already.
      const std::size_t first = one.find('\x01');
      const std::size_t plain = pattern.find_first_of("*?[\\(\x01");
      const std::string_view start = std::string_view(pattern).substr(0, plain);
      const bool differs = first != std::string::npos && start.substr(0, first) != std::string_view(one).substr(0, std::min(first, start.size()));
      if (differs) {
        all = false;
        continue;
      }
      causes = marks(text + pattern);
      return Answer{false, false, causes};
    }
    const bool yes = matches(pattern, one);
    any = any || yes;
    all = all && yes;
  }
  if (any != all) return Answer{false, false, marks(text)};
  return Answer{any, true};
}

// ---- loops

bool Machine::turn(const Command& body, Flow& flow, std::vector<Parked>& left) {
  const std::size_t from = parked_.size();
  flow = execute(body);
  const auto goes_on = [](const Flow& one) {
    return one.normal() || (one.kind == Flow::Kind::kContinue && one.levels <= 1);
  };
  flow = settle(from, flow, goes_on);
  for (std::size_t k = from; k < parked_.size();) {
    if (parked_[k].flow.kind == Flow::Kind::kBreak && parked_[k].flow.levels <= 1) {
      left.push_back(std::move(parked_[k]));
      parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
  return flow.normal();
}

// The loop is over: what broke out of it goes on with what came to its end.
Flow Machine::end_loop(std::size_t from, Flow flow, std::vector<Parked>& left) {
  for (Parked& one : left) parked_.push_back(std::move(one));
  const auto ends = [](const Flow& one) {
    return one.normal() || (one.kind == Flow::Kind::kBreak && one.levels <= 1);
  };
  flow = settle(from, flow, ends);
  const auto outer = [](Flow& one) {
    const bool jumps = one.kind == Flow::Kind::kBreak || one.kind == Flow::Kind::kContinue;
    if (jumps && one.levels > 1) --one.levels;
  };
  outer(flow);
  for (std::size_t k = from; k < parked_.size(); ++k) outer(parked_[k].flow);
  return flow;
}

Flow Machine::unknown_turns(const std::vector<int>& causes, const std::function<bool(Flow&)>& one) {
  Flow flow;
  for (int k = 0; k < kTurnsNotKnown; ++k) {
    State before = state_;
    spend(before.size() / 32);
    if (!one(flow)) {  // every turn leaves: only no turn at all goes on
      parked_.push_back(Parked{flow, std::move(state_), causes, line_});
      state_ = std::move(before);
      return {};
    }
    merge(state_, before, causes, unknowns_, line_);
  }
  return {};
}

Flow Machine::for_words(const Command& command) {
  const Strings words = command.has_list ? fields(command.words) : state_.positional;
  const std::size_t from = parked_.size();
  std::vector<Parked> left;
  Flow flow;
  finish(0);
  for (const std::string& word : words) {
    spend(1);
    assign(command.name, word);
    const bool many = is_mark(word) || word.find_first_of("*?") != std::string::npos;
    if (many) {
      std::vector<int> causes = marks(word);
      if (causes.empty()) causes.push_back(unknowns_.add({.what = "which files " + word + " are", .line = line_}));
      assign(command.name, mark_of(causes, "an item of the list"));
      flow = unknown_turns(causes, [&](Flow& one) { return turn(*command.children.front(), one, left); });
      continue;
    }
    if (!turn(*command.children.front(), flow, left)) break;
  }
  return end_loop(from, flow, left);
}

Flow Machine::for_arithmetic(const Command& command) {
  const std::size_t from = parked_.size();
  std::vector<Parked> left;
  Flow flow;
  (void)arithmetic(command.arithmetic[0]);
  finish(0);
  while (true) {
    const bool endless = command.arithmetic[1].find_first_not_of(" \t\n") == std::string::npos;
    const ArithmeticResult more = endless ? ArithmeticResult{.value = 1} : arithmetic(command.arithmetic[1]);
    const auto one = [&](Flow& flow_of_turn) {
      if (!turn(*command.children.front(), flow_of_turn, left)) return false;
      (void)arithmetic(command.arithmetic[2]);
      return true;
    };
    if (!more.known) {
      flow = unknown_turns(more.causes, one);
      break;
    }
    spend(1);
    if (more.value == 0 || !one(flow)) break;
  }
  return end_loop(from, flow, left);
}

Flow Machine::while_loop(const Command& command) {
  const std::size_t from = parked_.size();
  std::vector<Parked> left;
  Flow flow;
  Status last;
  while (true) {
    spend(1);
    {
      const Counted tested(tested_);
      flow = execute(*command.children[0]);
    }
    if (!flow.normal()) break;
    Answer more = succeeded();
    if (command.until) more.yes = !more.yes;
    more.otherwise = -1;
    const auto one = [&](Flow& flow_of_turn) { return turn(*command.children[1], flow_of_turn, left); };
    if (!more.known) {
      flow = unknown_turns(more.causes, one);
      finish(0);
      break;
    }
    if (!more.yes) {
      state_.status = last;
      break;
    }
    if (!one(flow)) break;
    last = state_.status;
    if (left.size() > 8) {  // it waits for what is not known: it ended somewhere among these
      Parked end = std::move(left.back());
      left.pop_back();
      state_ = std::move(end.state);
      flow = {};
      break;
    }
  }
  return end_loop(from, flow, left);
}

// ---- functions and shells

Flow Machine::call(const Command& function, const Strings& arguments) {
  Strings positional = std::move(state_.positional);
  const bool given = state_.positional_given;
  state_.positional = arguments;
  state_.positional_given = true;
  state_.frames.emplace_back();
  const std::size_t from = parked_.size();
  Flow flow = execute(function);
  flow = settle(from, flow, [](const Flow& one) { return one.normal() || one.kind == Flow::Kind::kReturn; });
  const auto restore = [&](State& state) {
    state.positional = positional;
    state.positional_given = given;
    if (state.frames.empty()) return;
    for (auto& [name, value] : state.frames.back().saved) {
      if (value) {
        state.variables[name] = *value;
      } else {
        state.variables.erase(name);
      }
    }
    state.frames.pop_back();
  };
  restore(state_);
  return flow.normal() ? after(flow) : flow;
}

void Machine::aside(const std::function<void()>& body) {
  spend(1 + state_.size() / 64);
  State before = state_;
  const std::size_t from = parked_.size();
  body();
  (void)settle(from, Flow{}, [](const Flow&) { return true; });
  before.files = std::move(state_.files);
  before.launches = std::move(state_.launches);
  before.handed_on = std::move(state_.handed_on);
  before.output = std::move(state_.output);
  before.status = state_.status;
  state_ = std::move(before);
}

std::string Machine::caught(const std::function<void()>& body) {
  std::string output = std::exchange(state_.output, {});
  const bool before = std::exchange(state_.caught, true);
  body();
  state_.caught = before;
  std::string text = std::exchange(state_.output, std::move(output));
  return text;
}

Flow Machine::run_text(const std::string& text, int line) {
  spend(1 + text.size() / 16);
  CommandPointer commands;
  try {
    commands = parse_script(text, line);
  } catch (const SyntaxError& error) {
    finish_unknown("what the shell makes of the text at line " + std::to_string(line) + " (" + error.what() + ")");
    return {};
  }
  collect_names(*commands);
  return execute(*commands);
}

Flow Machine::run_file(const std::string& path, const Strings& arguments, bool own_arguments) {
  const std::optional<std::string> text = read(path);
  if (!text || has_mark(*text)) {
    note("`source " + shown(path, unknowns_) + "`: not here, taken as empty: what it sets is not known (--file gives it)",
         line_);
    source_missing_ = true;
    finish(0);
    return {};
  }
  if (sources_.size() > 20) throw SyntaxError(line_, "files source each other more than 20 deep");
  Strings positional = state_.positional;
  const bool given = state_.positional_given;
  if (own_arguments) {
    state_.positional = arguments;
    state_.positional_given = true;
  }
  sources_.push_back(path);
  const std::size_t from = parked_.size();
  const int line = line_;
  Flow flow = run_text(*text, 1);
  flow = settle(from, flow, [](const Flow& one) { return one.normal() || one.kind == Flow::Kind::kReturn; });
  line_ = line;
  sources_.pop_back();
  if (own_arguments) {
    state_.positional = positional;
    state_.positional_given = given;
  }
  return flow;
}

void Machine::child_shell(const std::string& text, const Strings& arguments, bool is_file, const std::string& name,
                          const std::map<std::string, std::string>& options) {
  aside([&] {
    for (auto it = state_.variables.begin(); it != state_.variables.end();) {
      it = it->second.exported ? std::next(it) : state_.variables.erase(it);
    }
    state_.functions.clear();
    state_.frames.clear();
    state_.positional = arguments;
    state_.positional_given = true;
    state_.stops_on_error = state_.refuses_unset = state_.fails_in_pipes = false;
    const std::map<std::string, std::string> batch = state_.batch;
    if (is_file) {
      for (auto& [key, value] : batch_options(text)) state_.batch[key] = value;
    }
    for (const auto& [key, value] : options) state_.batch[key] = value;
    if (state_.batch != batch) set_batch_variables(text, true);
    const std::string zero = std::exchange(zero_, name);
    sources_.push_back(name);
    const int line = line_;
    const int tested = std::exchange(tested_, 0);
    (void)run_text(text, is_file ? 1 : line);
    tested_ = tested;
    sources_.pop_back();
    zero_ = zero;
    line_ = line;
  });
}

}  // namespace debubble::shell
