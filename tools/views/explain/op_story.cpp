#include "tools/views/explain/op_story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/explain/words.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::string_view kKindLetters = "FBIWRST";
constexpr std::size_t kMostLines = 20;  // of a chain in text; of a longer one the two ends
constexpr std::size_t kOpHead = 14;
constexpr Nanoseconds kFinerOp = 10;  // so that short waits of a long step show

std::int32_t find_span(const std::string& name, const Timeline& timeline) {
  const auto found = std::find_if(timeline.spans.begin(), timeline.spans.end(), [&](const Span& span) {
    const Op* const partner = timeline.partner(span);
    return to_string(span.op) == name || (partner != nullptr && to_string(*partner) == name);
  });
  return found == timeline.spans.end() ? -1 : static_cast<std::int32_t>(found - timeline.spans.begin());
}

[[noreturn]] void no_such_op(const std::string& name, const Simulated& run) {
  const Schedule& schedule = run.job.schedule;
  std::string kinds;
  for (const char kind : kKindLetters) {
    const auto has = [&](const Span& span) {
      const Op* const partner = run.result.timeline.partner(span);
      return letter(span.op.kind) == kind || (partner != nullptr && letter(partner->kind) == kind);
    };
    if (std::any_of(run.result.timeline.spans.begin(), run.result.timeline.spans.end(), has))
      kinds += (kinds.empty() ? "" : ", ") + std::string(1, kind);
  }
  throw InputError(Diagnostic{"C003", "explain", fmt::format("{} has no op {}", schedule.name, name),
                              fmt::format("stages are 0 to {}, numbers 0 to {}, ops {}", schedule.stages - 1,
                                          schedule.total_pieces() - 1, kinds)});
}

// What its op takes where nothing varies, as the engine recorded it: what it took, less what it took beyond.
Nanoseconds usual(const Span& span, const Timeline& timeline) {
  return span.end - span.begin - timeline.straggled(span) - timeline.slowed(span);
}

std::vector<WaitedFor> chain_of(const Span& span, Nanoseconds from, const Timeline& timeline) {
  std::vector<WaitedFor> chain;
  Nanoseconds at = span.begin;
  for (Gate gate = span.gate; gate.kind != Gate::Kind::kStart && at > from; gate = gate_of(gate, timeline)) {
    const Times times = times_of(gate, timeline);
    if (times.end <= from) break;
    if (std::max(times.begin, from) < std::min(times.end, at)) {
      chain.push_back({gate, std::max(times.begin, from), std::min(times.end, at)});
    }
    at = std::min(at, times.begin);
  }
  return chain;
}

}  // namespace

bool is_op_name(const std::string& name) {
  const std::size_t letter = name.find_first_of(kKindLetters);
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return letter != std::string::npos && digits(std::string_view(name).substr(0, letter)) &&
         digits(std::string_view(name).substr(letter + 1));
}

OpStory story_of(const std::string& name, const Simulated& run) {
  const Timeline& timeline = run.result.timeline;
  OpStory story;
  story.span = find_span(name, timeline);
  if (story.span < 0) no_such_op(name, run);
  const Span& span = timeline.spans[to_index(story.span)];
  story.op = to_string(span.op) == name ? span.op : *timeline.partner(span);
  story.cost = usual(span, timeline);
  Nanoseconds free_at = 0;
  if (story.span > timeline.device_begin[to_index(span.device)]) {
    story.before = story.span - 1;
    free_at = timeline.spans[to_index(story.before)].end;
  }
  for (std::size_t i = 0; i < timeline.steps.size(); ++i) {
    const StepSpan& step = timeline.steps[i];
    const bool holds = step.device == span.device && step.lane == StepTask::Lane::kCompute;
    if (!holds || step.begin >= span.begin || step.end <= free_at) continue;
    free_at = step.end;
    story.step_before = static_cast<std::int32_t>(i);
  }
  story.waited = std::max<Nanoseconds>(0, span.begin - free_at);
  story.by_cause = wait_by_cause(timeline, story.span);
  story.chain = chain_of(span, free_at, timeline);
  story.input_waited = std::max<Nanoseconds>(0, span.begin - span.ready);
  const std::vector<Gate> path = critical_path(timeline);
  story.critical = std::any_of(path.begin(), path.end(), [&](const Gate& gate) {
    return gate.kind == Gate::Kind::kSpan && gate.index == story.span;
  });
  return story;
}

namespace {

// "of it 1.20 ms latency, 0.30 ms contention"
std::string parts_of(const WaitedFor& wait, const Timeline& timeline) {
  const auto index = static_cast<std::size_t>(wait.thing.index);
  std::string text;
  const auto add = [&](Nanoseconds time, const char* what) {
    if (time > 0) text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", format_duration(time), what);
  };
  if (wait.thing.kind == Gate::Kind::kTransfer) {
    const Transfer& transfer = timeline.transfers[index];
    add(transfer.end - transfer.begin - transfer.latency - transfer.contention, "bandwidth");
    add(transfer.contention, "contention");
    add(transfer.latency, "latency");
  } else if (wait.thing.kind == Gate::Kind::kSpan) {
    add(timeline.straggled(timeline.spans[index]), "beyond its stage's cost");
    add(timeline.slowed(timeline.spans[index]), "slowed by a collective");
  } else if (wait.thing.kind == Gate::Kind::kStep) {
    add(timeline.steps[index].contention, "contention");
    add(timeline.steps[index].waited_for_replica, "before it, waiting for another replica");
  }
  return text.empty() ? text : text + ")";
}

std::string causes_text(const OpStory& story) {
  std::string text;
  for (int i = 0; i < kIdleCauses; ++i) {
    const Nanoseconds time = story.by_cause[to_index(i)];
    if (time == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_blanks(to_string(static_cast<IdleCause>(i))),
                        format_duration(time));
  }
  return text;
}

std::string previous(const OpStory& story, const Timeline& timeline) {
  if (story.step_before) return in_words({Gate::Kind::kStep, *story.step_before}, timeline);
  return name_of(timeline.spans[to_index(story.before)], timeline);
}

std::string ran_text(const OpStory& story, const Simulated& run) {
  const Timeline& timeline = run.result.timeline;
  const Span& span = timeline.spans[to_index(story.span)];
  std::string text = fmt::format("{}, the {}, ran on device {} from {} to {}: {}", to_string(story.op),
                                 meaning_of(story.op, run.job.schedule), span.device, format_duration(span.begin),
                                 format_duration(span.end), format_duration(span.end - span.begin));
  if (timeline.partner(span) != nullptr) text += fmt::format(", as one cell: {}", name_of(span, timeline));
  if (const Nanoseconds straggled = timeline.straggled(span); straggled != 0) {
    text += fmt::format("; that is {} {} than its stage costs", format_duration(std::abs(straggled)),
                        straggled > 0 ? "longer" : "shorter");
  }
  if (const Nanoseconds slowed = timeline.slowed(span); slowed > 0)
    text += fmt::format("; {} of it because it overlapped with a collective", format_duration(slowed));
  return text + ".";
}

std::string wait_text(const OpStory& story, const Simulated& run) {
  const Span& span = run.result.timeline.spans[to_index(story.span)];
  const bool first = story.before < 0 && !story.step_before;
  if (story.waited == 0) {
    if (first) return "It began at time 0 and waited for nothing.";
    std::string text = fmt::format("Nothing was lost before it: device {} worked until then, on {}.", span.device,
                                   previous(story, run.result.timeline));
    if (story.input_waited > 0) {
      text += fmt::format(" What it needs had been there for {}.", format_duration(story.input_waited));
    }
    return text;
  }
  const std::string since = first ? "time 0" : "the end of " + previous(story, run.result.timeline);
  return fmt::format("Before it device {} was idle for {}, since {}: {}.", span.device, format_duration(story.waited),
                     since, causes_text(story));
}

}  // namespace

std::string op_story_text(const OpStory& story, const Simulated& run, int width) {
  const auto columns = static_cast<std::size_t>(width);
  std::string text;
  const auto add = [&](const std::string& paragraph) {
    for (const std::string& line : wrap(paragraph, columns)) text += line + "\n";
  };
  add(ran_text(story, run));
  add(wait_text(story, run));
  if (!story.chain.empty()) {
    text += "\nwhat it waited for, backwards\n";
    Table table(
        {{"", Table::Side::kRight}, {"", Table::Side::kLeft}, {"", Table::Side::kRight}, {"", Table::Side::kLeft}});
    const Scale scale = duration_scale(run.result.timeline.makespan / kFinerOp);
    for (std::size_t k = 0; k < story.chain.size(); ++k) {
      const WaitedFor& wait = story.chain[k];
      if (story.chain.size() > kMostLines && k == kOpHead) {
        table.add_row({"...", "", "", fmt::format("{} more", story.chain.size() - kMostLines + 1)});
        k = story.chain.size() - (kMostLines - kOpHead - 1) - 1;
        continue;
      }
      table.add_row({format_scaled(wait.begin, scale), "to",
                     format_scaled(wait.end, scale) + std::string(" ") + scale.unit,
                     in_words(wait.thing, run.result.timeline) + parts_of(wait, run.result.timeline)});
    }
    text += table.text(columns, 2);
  }
  text += "\n";
  add(story.critical ? "It lies on the critical path: the step waits for it."
                     : "It does not lie on the critical path: the step's length depends on others.");
  return text;
}

}  // namespace debubble
