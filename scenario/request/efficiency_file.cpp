#include "scenario/request/efficiency_file.hpp"

#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kEfficiencyDialect{
    .what = "table of kernel efficiency",
    .description = "docs/models.md",
};

class EfficiencyReader {
 public:
  EfficiencyReader(const JsonValue& root, ProblemList& problems) : root_(root), problems_(problems) {}

  EfficiencyTable read() {
    if (text("format") != "debubble.efficiency/1") {
      complain("P010", "/format", "this is not a table of kernel efficiency",
               R"(its first member is "format": "debubble.efficiency/1")");
      return {};
    }
    EfficiencyTable table{text("hardware"), text("device"), text("source"), {}, {}};
    (void)find("licence");
    (void)find("changes");
    (void)find("columns");
    if (const JsonValue* passes = find("passes")) read_passes(*passes, table.passes);
    const JsonValue* shapes = find("shapes");
    if (shapes == nullptr || shapes->kind != JsonValue::Kind::kArray || shapes->children.empty()) {
      complain("P016", "/shapes", "there are no shapes", kRow);
      return table;
    }
    for (std::size_t k = 0; k < shapes->children.size(); ++k) read_row(shapes->children[k], k, table.shapes);
    for (const JsonValue& member : root_.children) {
      if (known_.contains(member.key)) continue;
      complain("P005", "/" + member.key, "unknown key " + in_quotes(member.key), "remove it");
    }
    return table;
  }

 private:
  static constexpr const char* kRow = R"(a row is ["matrix", "forward", batch, rows, columns, inner, share])";

  void complain(const char* code, const std::string& pointer, std::string message, std::string help) {
    problems_.add_at_pointer(code, pointer, std::move(message), std::move(help));
  }

  const JsonValue* find(const std::string& key) {
    known_.insert(key);
    for (const JsonValue& member : root_.children) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }

  std::string text(const std::string& key) {
    const JsonValue* value = find(key);
    if (value != nullptr && value->kind == JsonValue::Kind::kString && !value->text.empty()) return value->text;
    complain("P007", "/" + key, in_quotes(key) + " must be a string",
             "it says what was measured, and where it comes from");
    return {};
  }

  void read_passes(const JsonValue& given, MeasuredPasses& passes) {
    constexpr double kGiga = 1e9;
    constexpr double kMicro = 1e-6;
    constexpr double kLargestLatency = 1e4;  // microseconds
    bool fits = given.kind == JsonValue::Kind::kObject && given.children.size() == 2;
    for (const JsonValue& member : given.children) {
      const std::optional<double> value = number(member);
      if (member.key == "bandwidth_gb_per_s" && value && *value > 0) {
        passes.bandwidth = *value * kGiga;
      } else if (member.key == "latency_us" && value && *value >= 0 && *value <= kLargestLatency) {
        passes.latency = *value * kMicro;
      } else {
        fits = false;
      }
    }
    if (fits) return;
    complain("P012", "/passes", "these are not figures of passes over memory",
             R"(they read {"bandwidth_gb_per_s": 5328, "latency_us": 30})");
  }

  static std::optional<double> number(const JsonValue& value) {
    if (value.kind == JsonValue::Kind::kInteger) return static_cast<double>(value.integer);
    return number_of(value.text);
  }

  void read_row(const JsonValue& row, std::size_t number, std::vector<MeasuredShape>& shapes) {
    const std::string pointer = "/shapes/" + std::to_string(number);
    constexpr std::size_t kColumns = 7;
    if (row.kind != JsonValue::Kind::kArray || row.children.size() != kColumns) {
      return complain("P012", pointer, "this row has not 7 columns", kRow);
    }
    MeasuredShape shape;
    const std::string& kind = row.children[0].text;
    const std::string& phase = row.children[1].text;
    const bool fits = set_kind(kind, shape) && set_phase(phase, shape) && set_sizes(row, shape);
    if (!fits) return complain("P012", pointer, "this row is not a measured shape", kRow);
    shapes.push_back(shape);
  }

  static bool set_kind(const std::string& kind, MeasuredShape& shape) {
    if (kind == "attention") shape.kind = LayerOp::Kind::kAttention;
    return kind == "matrix" || kind == "attention";
  }

  static bool set_phase(const std::string& phase, MeasuredShape& shape) {
    if (phase == "input_grad") shape.phase = LayerOp::Phase::kInputGrad;
    if (phase == "weight_grad") shape.phase = LayerOp::Phase::kWeightGrad;
    return phase == "forward" || phase == "input_grad" || phase == "weight_grad";
  }

  static bool set_sizes(const JsonValue& row, MeasuredShape& shape) {
    for (std::size_t k = 2; k < 6; ++k) {
      if (row.children[k].kind != JsonValue::Kind::kInteger || row.children[k].integer < 1) return false;
    }
    shape.batch = row.children[2].integer;
    shape.m = row.children[3].integer;
    shape.n = row.children[4].integer;
    shape.k = row.children[5].integer;
    shape.efficiency = number_of(row.children[6].text).value_or(0);
    return shape.efficiency > 0 && shape.efficiency <= 1;
  }

  const JsonValue& root_;
  ProblemList& problems_;
  std::set<std::string> known_;
};

}  // namespace

EfficiencyTable read_efficiency(std::string_view text, const std::string& name) {
  ProblemList problems(name, kEfficiencyDialect);
  EfficiencyTable table;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    table = EfficiencyReader(*root, problems).read();
  }
  problems.throw_if_any();
  return table;
}

}  // namespace debubble
