#include "tools/views/compare_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/report_json.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/compare_columns.hpp"
#include "tools/views/compare_reason.hpp"
#include "tools/views/compare_rows.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using CompareNotes = std::vector<std::pair<std::string, std::string>>;  // letter, sentence

std::string first_clause(const std::string& text) {
  return text.substr(0, std::min({text.find("; "), text.find(": "), text.size()}));
}

// The mark before the name and the spare memory say as much.
bool is_of_memory(const Finding& finding) {
  return std::holds_alternative<OutOfMemory>(finding) || std::holds_alternative<OverMemoryLimit>(finding);
}

std::vector<std::string> notes_of(const ComparedRun& run, bool in_brief) {
  std::vector<std::string> notes;
  if (!run.terms.empty()) notes.push_back(run.terms);
  if (run.needs.chunks_tried.size() > 1) {
    notes.push_back(fmt::format("the fastest of v = {}", fmt::join(run.needs.chunks_tried, ", ")));
  }
  notes.insert(notes.end(), run.remarks.begin(), run.remarks.end());
  const ScheduleFacts& facts = run.report.schedule;
  if (!in_brief && run.report.stream &&
      run.report.stream->period) {  // a step fills and drains what a stream keeps full
    const double pace = run.report.stream->period->per_microbatch();
    notes.push_back(fmt::format("in a stream {} per {} microbatches",
                                format_duration(std::llround(pace * facts.microbatches)), facts.microbatches));
  }
  if (run.in_words) {
    if (!in_brief && !run.note.empty()) notes.push_back(run.note);
    for (const auto& [name, value] : facts.params) notes.push_back(name + "=" + value);
  }
  for (const Finding& finding : run.report.findings) {
    if (!in_brief || !is_of_memory(finding)) notes.push_back(finding_text(finding, run.report));
  }
  if (in_brief) std::transform(notes.begin(), notes.end(), notes.begin(), first_clause);
  return notes;
}

// "a" to "z", then "aa".
std::string letter_of(std::size_t index) {
  constexpr std::size_t kLetters = 26;
  const std::string last(1, static_cast<char>('a' + index % kLetters));
  return index < kLetters ? last : letter_of(index / kLetters - 1) + last;
}

// Gives each row its letters. In brief each note is its first clause, and what other columns say is left out.
CompareNotes lettered_notes(std::vector<CompareRow>& rows, bool in_brief) {
  CompareNotes lettered;
  for (CompareRow& row : rows) {
    for (const std::string& note : notes_of(*row.run, in_brief)) {
      auto known = std::find_if(lettered.begin(), lettered.end(), [&](const auto& one) { return one.second == note; });
      if (known == lettered.end()) known = lettered.insert(known, {letter_of(lettered.size()), note});
      row.letters += (row.letters.empty() ? "" : ",") + known->first;
    }
  }
  return lettered;
}

constexpr std::size_t kMostComparedLines = 40;
constexpr std::size_t kLeastRows = 8;
constexpr std::size_t kMostNotes = 5;
constexpr std::size_t kMostAssumptionLines = 8;
constexpr std::size_t kUsualAssumptionLines = 6;
constexpr std::size_t kLeastAssumptionLines = 3;

using NamedItems = std::vector<std::pair<std::string, std::string>>;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string labelled(const ViewStyle& style, std::string_view label, std::string_view body) {
  const std::size_t indent = std::max<std::size_t>(7, label.size() + 1);
  return paragraph_after(paint(style.color, kBold, label) + std::string(indent - label.size(), ' '), body, style,
                         indent);
}

// Two columns under a title.
std::string compared_list(const ViewStyle& style, std::string_view title, const NamedItems& items) {
  if (items.empty()) return "";
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const auto& [name, body] : items) table.add_row({shorten(name, 24), body});
  return "\n" + paint(style.color, kBold, title) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string names_of(const NamedItems& items) {
  std::string text;
  for (const auto& [name, body] : items) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The rows that are shown, with the letters of their notes.
struct ShownRows {
  std::vector<CompareRow> rows;
  CompareNotes notes;
  std::size_t best = 0;    // index; rows.size(): none
  std::size_t hidden = 0;  // how many are not shown
};

class CompareText {
 public:
  CompareText(const ComparedSchedules& comparison, const ViewStyle& style) : comparison_(comparison), style_(style) {
    for (const ComparedRun& run : comparison.runs) {
      if (has_result(run.report)) {
        rows_.push_back(compared_row(run));
        continue;
      }
      const Finding* error = first_error(run.report);
      not_run_.emplace_back(schedule_label(run.report.schedule), error != nullptr ? finding_text(*error, run.report)
                                                                 : run.report.deadlock ? "deadlock"
                                                                                       : "no result");
    }
    best_ = best_of(rows_);
    rival_ = best_ == nullptr ? nullptr : rival_of(rows_, best_);
  }

  std::string text() {
    if (style_.details) return whole();
    const std::string above = title_lines(comparison_.title, style_) + answer();
    const std::string names = not_run_.empty() ? "" : labelled(style_, "not run", names_of(not_run_));
    // As many rows as there is room for, beside what has to be there.
    constexpr std::size_t kBlankLines = 2;
    constexpr std::size_t kMoreLines = 2;
    const std::size_t others = lines_of(above) + lines_of(names) + kBlankLines + kMoreLines;
    const std::size_t least_assumed = std::min(lines_of(assumptions(kMostAssumptionLines)), kUsualAssumptionLines);
    std::size_t shown = rows_.size();
    std::string body = table(shown_rows(shown));
    while (shown > kLeastRows && others + lines_of(body) + least_assumed > kMostComparedLines) {
      body = table(shown_rows(--shown));
    }
    const ShownRows rows = shown_rows(shown);
    std::size_t used = others + lines_of(body);
    const std::string assumed = assumptions(kMostComparedLines - std::min(used, kMostComparedLines));
    used += lines_of(assumed);
    std::vector<std::string> left_out;
    if (rows.hidden > 0) left_out.emplace_back("all rows");
    const auto list_or = [&](const std::string& list, const std::string& brief, const char* what) {
      const bool fits = used - lines_of(brief) + lines_of(list) <= kMostComparedLines;
      if (fits) used = used - lines_of(brief) + lines_of(list);
      if (!fits) left_out.emplace_back(what);
      return fits ? list : brief;
    };
    body += list_or(compared_list(style_, "not run", not_run_), names, "why some do not run");
    body += list_or(compared_list(style_, "runs today in", frameworks()), "", "framework support");
    if (rows.notes.size() > kMostNotes) left_out.emplace_back("all notes");
    return above + (rows_.empty() ? "" : "\n") + body + more_line(left_out) + (assumed.empty() ? "" : "\n" + assumed);
  }

  [[nodiscard]] NamedItems answers() const {
    if (rows_.empty()) return {};
    const std::string& within = comparison_.within;
    NamedItems items;
    if (best_ == nullptr && comparison_.nearest.empty()) {
      items.emplace_back("best",
                         within.empty() ? "none: every run has an error, see the notes" : "none fits " + within);
    } else if (best_ == nullptr) {
      items.emplace_back("best",
                         "none fits" + (within.empty() ? "" : " " + within) + "; nearest: " + comparison_.nearest);
    } else if (rival_ != nullptr) {
      items.emplace_back("best", (within.empty() ? "" : within + ", ") + reason(*best_, *rival_));
    } else if (!comparison_.only.empty()) {
      items.emplace_back("best", comparison_.only);
    }
    if (const std::string faster = faster_asynchronous(rows_, best_); !faster.empty())
      items.emplace_back("faster", faster);
    if (const std::string today = today_text(rows_, best_); !today.empty()) items.emplace_back("today", today);
    items.insert(items.end(), comparison_.answers.begin(), comparison_.answers.end());
    if (const std::string close = close_rows(rows_); !close.empty()) items.emplace_back("close", close);
    return items;
  }

 private:
  // Everything, however long.
  std::string whole() {
    std::string text = title_lines(comparison_.title, style_) + answer() + (rows_.empty() ? "" : "\n");
    text += table(shown_rows(rows_.size())) + compared_list(style_, "runs today in", frameworks());
    text += compared_list(style_, "not run", not_run_);
    const std::string assumed = assumption_lines(comparison_.assumptions.shared, style_) + of_some();
    return text + (assumed.empty() ? "" : "\n" + assumed);
  }

  [[nodiscard]] std::string answer() const {
    std::string text;
    for (const auto& [label, body] : answers()) text += labelled(style_, label, body);
    return text;
  }

  // The first rows, and those of the others that have to be there: pinned, the best, what it is measured against, and
  // the best of each framework.
  [[nodiscard]] ShownRows shown_rows(std::size_t count) const {
    std::set<std::size_t> kept;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const CompareRow& row = rows_[k];
      const bool named = row.run->pinned || &row == best_ || &row == rival_ || !row.run->needs.best_in.empty();
      if (named) kept.insert(k);
    }
    for (std::size_t k = 0; k < rows_.size() && kept.size() < count; ++k) kept.insert(k);
    ShownRows shown;
    shown.hidden = rows_.size() - kept.size();
    shown.best = kept.size();
    for (const std::size_t k : kept) {
      if (&rows_[k] == best_) shown.best = shown.rows.size();
      shown.rows.push_back(rows_[k]);
    }
    shown.notes = lettered_notes(shown.rows, !style_.details);
    return shown;
  }

  // With what its marks and letters mean.
  [[nodiscard]] std::string table(const ShownRows& shown) const {
    if (shown.rows.empty()) return "";
    const CompareRow* best = shown.best == shown.rows.size() ? nullptr : &shown.rows[shown.best];
    const CompareLines lines = compare_lines(shown.rows, best, style_);
    std::string text;
    for (const std::string& line : lines.headings) text += line + "\n";
    for (const std::string& line : lines.rows) text += line + "\n";
    if (shown.hidden > 0) text += fmt::format("  ... {} more rows\n", shown.hidden);
    const bool failed =
        std::any_of(shown.rows.begin(), shown.rows.end(), [](const auto& row) { return !eligible(row); });
    if (failed && !style_.details) text += labelled(style_, "!", "does not fit, or has an error");
    std::vector<ScheduleNeeds> needs;
    for (const CompareRow& row : shown.rows) needs.push_back(row.run->needs);
    if (const std::string marks = legend(needs); !marks.empty()) text += labelled(style_, "needs", marks);
    for (std::size_t k = 0; k < shown.notes.size() && (style_.details || k < kMostNotes); ++k) {
      text += labelled(style_, shown.notes[k].first, shown.notes[k].second);
    }
    return text;
  }

  // Who runs which of the schedules today.
  [[nodiscard]] NamedItems frameworks() const {
    NamedItems groups;
    for (const CompareRow& row : rows_) {
      if (!row.run->needs.frameworks.empty()) groups.emplace_back(row.label, row.run->needs.frameworks);
    }
    return groups;
  }

  [[nodiscard]] std::string more_line(const std::vector<std::string>& left_out) const {
    if (left_out.empty()) return "";
    std::string text = "--details shows ";
    for (std::size_t k = 0; k < left_out.size(); ++k) {
      text += (k == 0 ? "" : k + 1 == left_out.size() ? " and " : ", ") + left_out[k];
    }
    return labelled(style_, "more", text);
  }

  [[nodiscard]] std::string assumptions(std::size_t room) const {
    if (rows_.empty()) return "";
    if (style_.all_assumptions) return assumption_lines(comparison_.assumptions.shared, style_) + of_some();
    return assumption_lines(comparison_.assumptions.shared,
                            std::clamp(room, kLeastAssumptionLines, kMostAssumptionLines), style_);
  }

  [[nodiscard]] std::string of_some() const {
    std::vector<Report> reports;
    for (const ComparedRun& run : comparison_.runs) reports.push_back(run.report);
    return assumptions_of_some(comparison_.assumptions, reports, style_);
  }

  const ComparedSchedules& comparison_;
  const ViewStyle& style_;
  std::vector<CompareRow> rows_;
  NamedItems not_run_;
  const CompareRow* best_ = nullptr;
  const CompareRow* rival_ = nullptr;
};

}  // namespace

std::string compare_table(const ComparedSchedules& comparison, const ViewStyle& style) {
  return CompareText(comparison, style).text();
}

std::vector<std::pair<std::string, std::string>> compare_answers(const ComparedSchedules& comparison) {
  return CompareText(comparison, ViewStyle{}).answers();
}

}  // namespace debubble
