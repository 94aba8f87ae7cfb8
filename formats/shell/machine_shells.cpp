// Functions, subshells, files that are sourced, shells that are started.
#include <iterator>
#include <utility>

#include "formats/shell/machine.hpp"

namespace debubble::shell {

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
    state.put_back(std::move(state.frames.back().saved));
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
    note("`source " + shown(path, unknowns_) +
             "`: not here, taken as empty: what it sets is not known (--file gives it)",
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
    std::erase_if(state_.functions,
                  [this](const auto& function) { return !state_.exported_functions.contains(function.first); });
    state_.frames.clear();
    state_.positional = arguments;
    state_.positional_given = true;
    state_.stops_on_error = state_.fails_in_pipes = state_.exports_all = false;
    state_.left_folders.clear();
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
