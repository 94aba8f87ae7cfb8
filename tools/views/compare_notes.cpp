#include "tools/views/compare_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/exporters/finding_text.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

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

}  // namespace

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

}  // namespace debubble
