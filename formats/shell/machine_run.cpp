// Control flow: lists, pipelines, branches.
#include <algorithm>
#include <utility>

#include "formats/shell/counted.hpp"
#include "formats/shell/machine.hpp"
#include "formats/shell/patterns.hpp"

namespace debubble::shell {
namespace {

using Kind = Command::Kind;

constexpr std::size_t kMostSteps = 2'000'000;
constexpr int kDeepestCall = 400;
constexpr std::size_t kMostParked = 200;

}  // namespace

void Machine::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ > kMostSteps) throw SyntaxError(line_, "the script takes more than 2,000,000 steps to follow");
}

Answer Machine::succeeded() const {
  return Answer{state_.status.code == 0, state_.status.known, state_.status.causes, state_.status.otherwise};
}

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
  const bool stops =
      flow.normal() && state_.stops_on_error && tested_ == 0 && state_.status.known && state_.status.code != 0;
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
      case Kind::kSimple:
        return simple(command);
      case Kind::kPipeline:
        return pipeline(command);
      case Kind::kAnd:
      case Kind::kOr:
        return and_or(command);
      case Kind::kList:
        return list(command);
      case Kind::kIf:
        return if_from(command, 0);
      case Kind::kCase: {
        const std::string subject = single(command.words.front());
        finish(0);
        return case_from(command, 0, subject);
      }
      case Kind::kFor:
        return for_words(command);
      case Kind::kForArithmetic:
        return for_arithmetic(command);
      case Kind::kWhile:
        return while_loop(command);
      case Kind::kFunction:
        state_.functions[command.name] = command.children.front();
        if (state_.exports_all) state_.exported_functions.insert(command.name);
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
      const bool differs = first != std::string::npos &&
                           start.substr(0, first) != std::string_view(one).substr(0, std::min(first, start.size()));
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

}  // namespace debubble::shell
