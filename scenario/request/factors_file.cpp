#include "scenario/request/factors_file.hpp"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <utility>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/request/factors.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

constexpr JsonDialect kFactorsDialect{
    .what = "file of factors",
    .description = "docs/whatif.md",
};
constexpr std::int64_t kMostFileTokens = 1'000'000'000'000;

// Which of the two a file holds, and its rules.
struct FactorColumn {
  bool tokens = false;

  [[nodiscard]] bool allows(double value) const {
    return tokens ? value > 0 && value <= static_cast<double>(kMostFileTokens) : is_factor(value);
  }
  [[nodiscard]] std::string rule() const {
    return tokens ? "a number of tokens above 0" : "a factor from 0.001 to 1000";
  }
};

std::vector<double> finished(std::vector<double> values, const FactorColumn& column) {
  if (!column.tokens) return values;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value /= mean;
  return values;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), problems_(name, kFactorsDialect) {}

  std::vector<double> run() {
    if (first_bad_utf8(text_)) {
      problems_.add("P002", problems_.name(), "the file is not UTF-8", "save it as plain text");
    }
    problems_.throw_if_any();
    std::vector<std::string> lines = split(text_, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (std::size_t k = 0; k < lines.size(); ++k) {
      std::string& line = lines[k];
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (k == 0) {
        header(line);
      } else {
        row(line, k + 1);
      }
    }
    if (rows_ == 0) problems_.add("P006", problems_.name(), "the file has no microbatch", "write one line for each");
    problems_.throw_if_any();
    return finished(std::move(values_), column_);
  }

 private:
  [[nodiscard]] std::string place(std::size_t line) const { return fmt::format("{}:{}", problems_.name(), line); }

  void header(const std::string& line) {
    column_.tokens = line == "microbatch,tokens";
    if (column_.tokens || line == "microbatch,factor") return;
    problems_.add("P005", place(1), fmt::format("the first line is {}", in_quotes(line)),
                  "write microbatch,factor or microbatch,tokens");
    problems_.throw_if_any();
  }

  void row(const std::string& line, std::size_t number) {
    const std::vector<std::string> fields = split(line, ',');
    const auto microbatch = fields.size() == 2 ? count_of(fields[0]) : std::nullopt;
    // Not a conditional expression: -O2 takes the optional that it makes for uninitialised.
    std::optional<double> value;
    if (fields.size() == 2) value = number_of(fields[1]);
    if (fields.size() != 2) {
      problems_.add("G002", place(number), fmt::format("{} is not two fields", in_quotes(line)),
                    "write MICROBATCH,NUMBER");
    } else if (microbatch != static_cast<std::int64_t>(rows_)) {
      problems_.add("G002", place(number), fmt::format("microbatch {} is due, not {}", rows_, in_quotes(fields[0])),
                    "number them from 0, each once and in order");
    }
    if (fields.size() == 2 && (!value || !column_.allows(*value))) {
      problems_.add("P004", place(number), fmt::format("{} is not {}", in_quotes(fields[1]), column_.rule()), "");
    }
    ++rows_;
    values_.push_back(value ? *value : 1.0);
  }

  std::string_view text_;
  ProblemList problems_;
  FactorColumn column_;
  std::size_t rows_ = 0;
  std::vector<double> values_;
};

std::vector<double> read_factors_json(std::string_view text, const std::string& name) {
  ProblemList problems(name, kFactorsDialect);
  const std::optional<JsonValue> tree = parse_json(text, problems);
  problems.throw_if_any();
  JsonObjectReader reader(*tree, "", problems);
  const std::string schema = reader.text("schema");
  if (!schema.empty() && schema != "debubble.factors/1") {
    reader.complain("P010", "schema", fmt::format("{} is not debubble.factors/1", in_quotes(schema)), "");
  }
  const JsonValue* factors = reader.optional_array("factors");
  const JsonValue* tokens = reader.optional_array("tokens");
  reader.finish();
  problems.throw_if_any();
  if ((factors == nullptr) == (tokens == nullptr)) {
    reader.complain("P006", "", "the file must have either \"factors\" or \"tokens\"", "\"factors\": [1.25, 0.75]");
    problems.throw_if_any();
  }
  const FactorColumn column{tokens != nullptr};
  const JsonValue& list = column.tokens ? *tokens : *factors;
  const std::string key = column.tokens ? "tokens" : "factors";
  if (list.children.empty()) reader.complain("P006", key, "the list has no microbatch", "write one number for each");
  std::vector<double> values;
  for (std::size_t k = 0; k < list.children.size(); ++k) {
    const auto value = number_of(list.children[k]);
    if (!value || !column.allows(*value)) {
      problems.add_at_pointer("P004", fmt::format("/{}/{}", key, k),
                              describe(list.children[k]) + " is not " + column.rule(), "");
    }
    values.push_back(value.value_or(1));
  }
  problems.throw_if_any();
  return finished(std::move(values), column);
}

}  // namespace

std::vector<double> read_factors_file(std::string_view text, const std::string& name) {
  if (name.ends_with(".csv")) return CsvReader(text, name).run();
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = name.ends_with(".json") || (begin != std::string_view::npos && text[begin] == '{');
  return json ? read_factors_json(text, name) : CsvReader(text, name).run();
}

}  // namespace debubble
