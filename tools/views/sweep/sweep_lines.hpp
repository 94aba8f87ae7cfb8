// Rows of a sweep as lines of CSV or JSON: compact, one row each, in a fixed form (docs/sweep.schema.json).
//
//     row,sweep,status,code,--tp,schedule,devices,...,makespan_ns,...,limit,reason
//     0,91c5d1f6a0e6b0d2,0,,2,1f1b,4,...
//     {"row":0,"sweep":"91c5d1f6a0e6b0d2","status":0,"code":null,"flags":{"tp":2},"schedule":"1f1b",...}
//
// Each line begins with its number and the sweep's, so that a file tells which rows of which sweep it has.
#pragma once

#include <cstdint>
#include <string>

#include "studies/sweep/row.hpp"
#include "studies/sweep/space.hpp"

namespace debubble {

class SweepLines {
 public:
  // `space` must outlive it.
  SweepLines(const SweepSpace& space, std::uint64_t fingerprint, bool json);

  [[nodiscard]] std::string header() const;  // with its end; empty for JSON
  [[nodiscard]] std::string line(const SweptRow& row) const;
  // What the line of that row begins with, and what every whole line ends with.
  [[nodiscard]] std::string prefix(std::int64_t row) const;
  [[nodiscard]] std::string ending() const { return json_ ? "}" : ""; }

 private:
  [[nodiscard]] std::string csv_row(const SweptRow& row) const;
  [[nodiscard]] std::string json_row(const SweptRow& row) const;

  const SweepSpace& space_;
  std::string fingerprint_;
  bool json_;
};

}  // namespace debubble
