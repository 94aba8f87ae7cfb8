#include "tools/views/plan/plan_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/text/shell.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "studies/plan/plan.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/plan/front_view.hpp"
#include "tools/views/plan/own_view.hpp"
#include "tools/views/plan/rows_view.hpp"
#include "tools/views/range_words.hpp"

namespace debubble {
namespace {

constexpr std::size_t kColumn = 11;
constexpr double kNoShare = 0.0005;  // would be shown as 0.0 %

std::string figures(const Plan& plan, const PlannedRun& run) {
  std::string text = fmt::format("step {}, bubble {}", format_duration(run.step), format_percent(run.bubble_ratio));
  if (run.tokens_per_second) {
    text += fmt::format(", {:.0f} tokens/s", *run.tokens_per_second);
  } else if (run.samples_per_second) {
    text += fmt::format(", {:.1f} samples/s", *run.samples_per_second);
  }
  if (run.mfu) text += ", MFU " + format_percent(*run.mfu);
  text += "; memory " + format_size(run.peak);
  if (run.spare) text += ", " + format_size(*run.spare) + " to spare" + (run.is_tight() ? ": tight" : "");
  if (const auto cost = cost_of(plan, run)) {
    text += fmt::format("; {:.2f} per {}", *cost, run.tokens_per_second ? "million tokens" : "thousand samples");
  }
  return text;
}

// What a person would change first.
bool matters_for_plan(const Assumption& one) {
  constexpr std::array<std::string_view, 6> kKeys{"hardware", "memory",         "kernel efficiency",
                                                  "sample",   "number formats", "idle GPUs"};
  return std::find(kKeys.begin(), kKeys.end(), one.key) != kKeys.end();
}

class PlanText {
 public:
  PlanText(const Plan& plan, const ViewStyle& style) : plan_(plan), style_(style) {}

  std::string run() {
    const std::string job =
        plan_.asked.request.job.transformer.model.empty() ? "the profile" : plan_.asked.request.job.transformer.model;
    line(paint(style_.color, kBold,
               fmt::format("plan for {} on {}, {} per step", printable(job), counted(plan_.asked.request.gpus, "GPU"),
                           counted(plan_.asked.request.global_batch, "sample"))));
    line("");
    if (plan_.search.runs.empty()) {
      add_failure();
    } else {
      add_best();
    }
    items("yours", own_run_lines(plan_));
    items("changes", own_change_lines(plan_));
    item("certainty", certainty_words(plan_));
    item("searched", searched());
    add_rows();
    add_front();
    add_also();
    add_space();
    add_paste();
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void item(const std::string& name, const std::string& text) {
    text_ += paragraph_after(pad_right(name, kColumn), text, style_, kColumn);
  }

  void items(const std::string& name, const std::vector<std::string>& texts) {
    for (const std::string& one : texts) item(&one == texts.data() ? name : "", printable(one));
  }

  void add_best() {
    const PlannedRun& best = plan_.search.runs.front();
    item("best", to_string(best.choice));
    item("", figures(plan_, best));
    if (plan_.best && plan_.best->result.report.step_range) {
      const StepRange& range = *plan_.best->result.report.step_range;
      item("range", range_interval(range) + "; " + range_reason(range));
    }
    for (const PassedOver& one : plan_.passed_over) {
      item("faster", fmt::format("{}: step {} ({}); {}", to_string(one.run.choice), format_duration(one.run.step),
                                 slower(one.run, best), one.why));
    }
    if (plan_.best && plan_.best->result.report.makespan > 0) {
      const Advice advice = advise(plan_.best->result.report, AdviceContext{});
      item("limit", advice.limit);
    }
    add_limit(best);
  }

  void add_limit(const PlannedRun& best) {
    if (!plan_.limit) return;
    const PlanLimit& limit = *plan_.limit;
    const auto part = [](double share, const char* what) {
      return share < kNoShare ? std::string() : fmt::format(", {} {}", format_percent(share), what);
    };
    item("", "of the step: " + format_percent(limit.compute) + " compute" +
                 part(limit.inside_collectives, "collectives inside layers") +
                 part(limit.communication, "exposed communication") + part(limit.waiting, "waiting for other stages"));
    if (!limit.most_gain) return;
    const std::string most = format_percent(*limit.most_gain);
    if (!limit.without_memory_limit) return item("", "memory: without its limit nothing is faster by over " + most);
    const PlannedRun& free = *limit.without_memory_limit;
    item("", fmt::format("memory: without its limit {} would take {} less time ({} at most), with {}",
                         to_string(free.choice),
                         format_percent(1 - static_cast<double>(free.step) / static_cast<double>(best.step)), most,
                         format_size(free.peak)));
  }

  void add_shortage(const Shortage& shortage) {
    std::string parts;
    std::vector<std::pair<Bytes, std::string>> categories;
    for (int k = 0; k < kMemoryCategories; ++k) {
      if (at(shortage.by_category, k) > 0)
        categories.emplace_back(at(shortage.by_category, k), with_blanks(to_string(static_cast<MemoryCategory>(k))));
    }
    std::stable_sort(categories.begin(), categories.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [bytes, name] : categories) {
      parts += (parts.empty() ? "" : ", ") + name + " " + format_size(bytes);
    }
    const std::string free =
        shortage.margin > 0 ? ", of which " + format_size(shortage.margin) + " are to stay free" : "";
    item("short", fmt::format("memory of d{}: the allocator takes {} of {}{}; at the peak {}", shortage.device,
                              format_size(shortage.reserved), format_size(shortage.capacity), free, parts));
  }

  void add_change(const PlanChange& change) {
    item("fits", fmt::format("{}: {}; step {}, memory {}", change.what, to_string(change.run.choice),
                             format_duration(change.run.step), format_size(change.run.peak)));
    command("", change.command);
  }

  // To be pasted.
  void command(const std::string& name, const std::string& text) {
    const std::vector<std::string> lines = command_lines(text, static_cast<std::size_t>(style_.width) - kColumn);
    for (const std::string& one : lines) line(pad_right(&one == lines.data() ? name : "", kColumn) + one);
  }

  void add_front() {
    if (!plan_.front || plan_.front->points.empty()) return;
    line("");
    item("front", front_certainty(*plan_.front));
    text_ += front_view(*plan_.front, static_cast<std::size_t>(style_.width));
    line("");
  }

  void add_failure() {
    if (plan_.search.interrupted && plan_.search.tight.empty())
      return item("best", "none was found in the time that --budget gave");
    if (!plan_.search.nearest) {
      item("best", "there is none: nothing in the space is a legal run");
      for (const auto& [code, message] : plan_.search.illegal_messages) item("", code + ": " + message);
      return;
    }
    const NearMiss& near = *plan_.search.nearest;
    const std::vector<PlannedRun>& tight = plan_.search.tight;
    if (!tight.empty()) {
      const PlannedRun& fastest = tight.front();
      item("best", fmt::format("none leaves {} of the memory free", format_percent(plan_.asked.request.margin)));
      item("nearest", fmt::format("{}: fits with {} to spare, {} less than are to stay free", to_string(near.choice),
                                  format_size(*fastest.spare), format_size(near.missing)));
      for (const PlanChange& change : plan_.shortage.changes) add_change(change);
      return;
    }
    item("best", "none fits the memory");
    item("nearest", fmt::format("{}: lacks {} per GPU{}", to_string(near.choice), format_size(near.missing),
                                near.simulated ? "" : ", at least"));
    if (plan_.shortage.shortage) add_shortage(*plan_.shortage.shortage);
    for (const PlanChange& change : plan_.shortage.changes) add_change(change);
  }

  // What was not simulated, though legal. What --budget cut off was excluded by no bound.
  [[nodiscard]] std::string left_out() const {
    const SearchResult& s = plan_.search;
    if (s.interrupted) {
      return fmt::format("{} not reached in the time, {} excluded by a bound of their memory", s.excluded_by_time,
                         s.excluded_by_memory);
    }
    if (plan_.asked.options.objective == PlanObjective::kMemory) {
      return fmt::format("{} excluded by a bound of their memory as no better, {} as too large", s.excluded_by_time,
                         s.excluded_by_memory);
    }
    return fmt::format("{} excluded by a bound of their step time, {} by one of their memory", s.excluded_by_time,
                       s.excluded_by_memory);
  }

  [[nodiscard]] std::string searched() const {
    const SearchResult& s = plan_.search;
    std::string text =
        fmt::format("{} ways to run it: {} simulated, {}, {} illegal", s.space, s.simulated, left_out(), s.illegal);
    if (s.out_of_memory > 0) text += fmt::format("; of those simulated {} did not fit", s.out_of_memory);
    if (s.deadlocked > 0) text += fmt::format("; {} deadlocked", s.deadlocked);
    return text;
  }

  void add_rows() {
    if (plan_.rows.empty()) return;
    line("");
    text_ += rows_table(plan_, static_cast<std::size_t>(style_.width));
    line("");
    const std::vector<std::pair<std::string, std::string>> words = words_of_rows(plan_);
    for (const auto& [name, text] : words) item(name, text);
    if (!words.empty()) line("");
  }

  void add_also() {
    if (plan_.search.runs.empty()) return;
    const PlannedRun& best = plan_.search.runs.front();
    for (auto one = plan_.alternatives.begin(); one != plan_.alternatives.end(); ++one) {
      if (!one->run) {
        item("also", one->what + ": nothing in the space");
        continue;
      }
      const auto same = std::find_if(plan_.alternatives.begin(), one, [&](const Alternative& other) {
        return other.run && other.run->choice == one->run->choice;
      });
      if (one->run->choice == best.choice) {
        item("also", one->what + ": the best itself");
      } else if (same != one) {
        item("also", one->what + ": the same as \"" + same->what + "\"");
      } else {
        item("also", one->what + ": " + to_string(one->run->choice));
        item("", figures(plan_, *one->run) + " (" + slower(*one->run, best) + ")");
      }
    }
  }

  void add_space() {
    std::string all;
    for (const std::string& one : plan_.restrictions) all += (all.empty() ? "" : "; ") + one;
    item("space", all);
    std::vector<Assumption> assumptions = plan_.asked.assumptions;
    if (plan_.best) {
      const auto& own = plan_.best->result.report.assumptions;
      std::copy_if(own.begin(), own.end(), std::back_inserter(assumptions), matters_for_plan);
    }
    std::string text;
    for (const BriefAssumption& one : brief_assumptions(assumptions)) {
      text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", one.what, one.amount, to_string(one.source));
    }
    if (plan_.best) text += "; the rest is printed by the command under next";
    if (!text.empty()) item("assumed", printable(text));
  }

  void add_paste() {
    if (plan_.search.runs.empty()) return;
    for (const Paste& one : plan_.frameworks) {
      if (!one.refusal.empty()) {
        item("paste", one.framework + ": " + one.refusal);
        continue;
      }
      std::string title = one.framework + (one.of_own_best ? ", the best that it runs" : "") + ":";
      for (const auto& [name, value] : one.environment) title += " " + name + "=" + value;
      item("paste", title);
      item("", one.text(' ', one.framework == "torchtitan"));
      for (const std::string& note : one.notes) item("", "note: " + note);
    }
    const std::string simulation = command_of(plan_.search.runs.front().choice, plan_.asked.request.job);
    command("next", simulation);
    const bool patched = plan_.asked.own && plan_.asked.own->measured == 0 &&  // a log cannot be patched
                         plan_.frameworks.front().refusal.empty() && !plan_.asked.flags.script.empty();
    if (!patched || plan_.frameworks.front().of_own_best || plan_.asked.flags.script.ends_with(".toml")) return;
    constexpr std::string_view kSimulate = "debubble simulate";
    command("", "debubble export --to megatron --script " + shell_file(plan_.asked.flags.script) +
                    simulation.substr(kSimulate.size()) +
                    flags_back_to_default(plan_.asked.own->choice, plan_.search.runs.front().choice,
                                          plan_.best->job.partition));
  }

  const Plan& plan_;
  const ViewStyle& style_;
  std::string text_;
};

}  // namespace

std::string certainty_words(const Plan& plan) {
  const SearchResult& search = plan.search;
  const bool by_memory = plan.asked.options.objective == PlanObjective::kMemory;
  const bool first = by_memory || std::all_of(search.runs.begin(), search.runs.end(), [&](const PlannedRun& run) {
                       return run.step >= search.runs.front().step;
                     });
  const std::string what = by_memory ? "take less memory" : first ? "be faster" : "be faster than the fastest";
  if (search.runs.empty()) {
    return search.interrupted ? "the budget ended the search: nothing is proven"
                              : "proven: whatever was not simulated is illegal, or its memory bound does not fit";
  }
  if (search.remaining_gap <= 0) {
    return std::string(first ? "" : "the fastest is ") + "optimal in this space, proven by bounds";
  }
  const std::string gap = format_percent_to(search.remaining_gap, 2);
  if (search.interrupted) {
    return "the budget ended the search: something that was not simulated could " + what + " by up to " + gap +
           "; how far it came depends on this machine";
  }
  return fmt::format("proven: nothing in this space can {} by more than {}; --gap 0 closes the rest", what, gap);
}

std::string plan_view(const Plan& plan, const ViewStyle& style) { return PlanText(plan, style).run(); }

}  // namespace debubble
