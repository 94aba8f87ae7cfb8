// MixedProgram: a linear program of which some columns are whole numbers, and the little that is asked of a solver for
// it, so that only one shared library is linked to one.
//
//     debubble ── dlopen ──► libdebubble_cbc.so ── links ──► libCbc
//
// minimise cost · x, where lower <= x <= upper and row_lower <= A x <= row_upper.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace debubble {

// A sum of columns times factors, and a constant.
struct MixedSum {
  std::vector<std::pair<int, double>> terms;
  double constant = 0;

  void add(double factor, int column) { terms.emplace_back(column, factor); }
  void add(double factor, const MixedSum& other);
};

class MixedProgram {
 public:
  int add_column(double lower, double upper, bool whole);
  int add_binary() { return add_column(0, 1, true); }
  // Both may be infinite. A row without columns is left out: it must hold by itself.
  void at_least(const MixedSum& sum, double least);
  void at_most(const MixedSum& sum, double most);
  void minimise(int column) { cost_[static_cast<std::size_t>(column)] = 1; }

  [[nodiscard]] int columns() const { return static_cast<int>(lower_.size()); }
  [[nodiscard]] int rows() const { return static_cast<int>(row_lower_.size()); }
  [[nodiscard]] double lower(int column) const { return lower_[static_cast<std::size_t>(column)]; }
  [[nodiscard]] double upper(int column) const { return upper_[static_cast<std::size_t>(column)]; }

 private:
  friend class MixedArrays;
  void add_row(const MixedSum& sum, double least, double most);

  struct Entry {
    int row;
    double factor;
  };
  std::vector<double> lower_, upper_, cost_, row_lower_, row_upper_;
  std::vector<char> whole_;
  std::vector<std::vector<Entry>> entries_;  // by column, rows ascending
};

// What a solver is given: plain arrays, the matrix by columns. And how much it may do; 0 nodes or seconds: no limit.
struct MixedQuestion {
  int columns = 0;
  int rows = 0;
  const int* starts = nullptr;  // columns + 1
  const int* entries = nullptr;
  const double* factors = nullptr;
  const double* lower = nullptr;
  const double* upper = nullptr;
  const double* cost = nullptr;
  const char* whole = nullptr;
  const double* row_lower = nullptr;
  const double* row_upper = nullptr;
  int nodes = 0;
  double seconds = 0;
};

struct MixedAnswer {
  bool found = false;        // `values` hold a solution
  bool proven = false;       // it is the best one
  bool infeasible = false;   // there is none
  double bound = 0;          // no solution costs less
  int nodes = 0;             // visited
  double* values = nullptr;  // room for one per column, the caller's
};

// What the plugin exports, as `debubble_mixed_solver`.
struct MixedSolver {
  static constexpr int kInterfaceVersion = 1;
  int version = kInterfaceVersion;
  const char* (*name)() = nullptr;  // "CBC 2.10.8"
  void (*solve)(const MixedQuestion&, MixedAnswer&) = nullptr;
};

// The program as a question; it must outlive the arrays no longer than this object does.
class MixedArrays {
 public:
  explicit MixedArrays(const MixedProgram& program);
  [[nodiscard]] const MixedQuestion& question() const { return question_; }
  [[nodiscard]] MixedQuestion& question() { return question_; }

 private:
  std::vector<int> starts_, entries_;
  std::vector<double> factors_;
  MixedQuestion question_;
};

}  // namespace debubble
