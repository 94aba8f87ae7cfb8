// SweepSpace: every combination of the alternatives of all flags, numbered. Nothing is stored per combination.
//
//     --schedule 1f1b,zb-h1 -m 8,16      row 0  1f1b   8
//                                        row 1  1f1b  16
//                                        row 2  zb-h1  8
//                                        row 3  zb-h1 16
//
// The flags of a sweep are those of `simulate`, in the order of its help; the last of them varies fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

// The flags as typed: what `simulate` takes, each as texts that hold alternatives.
class SweepFlags {
 public:
  SweepFlags();
  // Rows that take alternatives: named and described like those of `simulate`. Their targets are this object's.
  [[nodiscard]] FlagRows rows();
  // `simulate`'s rows, and by row what was typed.
  [[nodiscard]] const FlagRows& simulate_rows() const { return simulate_rows_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& texts() const { return texts_; }

 private:
  ScenarioFlags of_rows_;  // the targets of simulate_rows_; stays as it is
  FlagRows simulate_rows_;
  std::vector<std::vector<std::string>> texts_;
};

// A flag that was given, with its alternatives.
struct SweepAxis {
  std::size_t row = 0;              // in simulate_rows()
  std::string name;                 // "tp", "param.group"; "slow.2" of a second --slow
  bool whole = false;               // its values are whole numbers
  bool on_off = false;              // a switch
  bool of_schedule = false;         // see Flag::of_schedule
  std::vector<std::string> values;  // at least one; a switch's are "true" and "false"
};

class SweepSpace {
 public:
  // More combinations than this are refused.
  static constexpr std::int64_t kMostRows = 1'000'000'000'000;

  // Throws InputError with all that is wrong with lists, ranges and whole numbers, and C012 for too many combinations.
  explicit SweepSpace(const SweepFlags& flags);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] const std::vector<SweepAxis>& axes() const { return axes_; }  // all that were given
  [[nodiscard]] std::vector<const SweepAxis*> varied() const;                 // those of several values
  // Of a combination, the index of each axis's value.
  [[nodiscard]] std::vector<std::size_t> places(std::int64_t row) const;

 private:
  std::vector<SweepAxis> axes_;
  std::int64_t rows_ = 1;
};

// A combination as the flags of `simulate`, brought from row to row. Each thread has its own.
class SweepPoint {
 public:
  explicit SweepPoint(const SweepSpace& space);
  SweepPoint(const SweepPoint&) = delete;
  SweepPoint& operator=(const SweepPoint&) = delete;
  void move_to(std::int64_t row);
  [[nodiscard]] const ScenarioFlags& flags() const { return flags_; }
  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }

 private:
  const SweepSpace& space_;
  ScenarioFlags flags_;
  FlagRows rows_;  // their targets are flags_
  std::vector<std::size_t> places_;
  std::shared_ptr<KnownTopologies> known_ = std::make_shared<KnownTopologies>();
};

// A number that tells this sweep from any other: a hash of `version`, of every flag's alternatives, and of the contents
// of the files and folders that they name. However its lists are written, a sweep has the same number.
[[nodiscard]] std::uint64_t fingerprint_of(const SweepFlags& flags, const SweepSpace& space,
                                           const std::string& version);

}  // namespace debubble
