#include "schedules/optimal/program/mixed_program.hpp"

#include <algorithm>
#include <limits>

namespace debubble {

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

}  // namespace

void MixedSum::add(double factor, const MixedSum& other) {
  constant += factor * other.constant;
  for (const auto& [column, each] : other.terms) terms.emplace_back(column, factor * each);
}

int MixedProgram::add_column(double lower, double upper, bool whole) {
  lower_.push_back(lower);
  upper_.push_back(upper);
  cost_.push_back(0);
  whole_.push_back(whole ? 1 : 0);
  entries_.emplace_back();
  return columns() - 1;
}

void MixedProgram::at_least(const MixedSum& sum, double least) { add_row(sum, least, kEndless); }
void MixedProgram::at_most(const MixedSum& sum, double most) { add_row(sum, -kEndless, most); }

void MixedProgram::add_row(const MixedSum& sum, double least, double most) {
  std::vector<std::pair<int, double>> terms = sum.terms;
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::pair<int, double>> merged;
  for (const auto& term : terms) {
    if (!merged.empty() && merged.back().first == term.first) {
      merged.back().second += term.second;
    } else {
      merged.push_back(term);
    }
  }
  std::erase_if(merged, [](const auto& term) { return term.second == 0; });
  if (merged.empty()) return;
  const int row = rows();
  row_lower_.push_back(least - sum.constant);
  row_upper_.push_back(most - sum.constant);
  for (const auto& [column, factor] : merged) entries_[static_cast<std::size_t>(column)].push_back({row, factor});
}

MixedArrays::MixedArrays(const MixedProgram& program) {
  starts_.push_back(0);
  for (const auto& column : program.entries_) {
    for (const MixedProgram::Entry& entry : column) {
      entries_.push_back(entry.row);
      factors_.push_back(entry.factor);
    }
    starts_.push_back(static_cast<int>(entries_.size()));
  }
  question_.columns = program.columns();
  question_.rows = program.rows();
  question_.starts = starts_.data();
  question_.entries = entries_.data();
  question_.factors = factors_.data();
  question_.lower = program.lower_.data();
  question_.upper = program.upper_.data();
  question_.cost = program.cost_.data();
  question_.whole = program.whole_.data();
  question_.row_lower = program.row_lower_.data();
  question_.row_upper = program.row_upper_.data();
}

}  // namespace debubble
