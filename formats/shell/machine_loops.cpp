// Loops, also those of which nobody knows how often they turn.
#include <utility>

#include "formats/shell/counted.hpp"
#include "formats/shell/machine.hpp"

namespace debubble::shell {
namespace {

constexpr int kTurnsNotKnown = 3;

}  // namespace

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
  const auto ends = [](const Flow& one) { return one.normal() || (one.kind == Flow::Kind::kBreak && one.levels <= 1); };
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

}  // namespace debubble::shell
