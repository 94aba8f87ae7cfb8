#include "scenario/request/kernel_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "formats/files/installed.hpp"
#include "formats/files/read_file.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kKernelsDialect{
    .what = "table of kernels",
    .description = "traces/kernels/README.md",
};

using KernelFields = std::vector<std::string_view>;

// "" has none.
KernelFields kernel_fields(std::string_view line) {
  KernelFields fields;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(','), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

class KernelsReader {
 public:
  KernelsReader(std::string_view text, const std::string& name) : text_(text), problems_(name, kKernelsDialect) {}

  KernelTables read() {
    if (first_bad_utf8(text_)) {
      problems_.add("P002", problems_.name(), "the file is not UTF-8", "save it as plain text");
      problems_.throw_if_any();
    }
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      take(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    if (!problems_.empty()) problems_.throw_if_any();
    finish();
    problems_.throw_if_any();
    return std::move(tables_);
  }

 private:
  using ProductRows = std::map<std::pair<double, double>, std::vector<double>>;  // by columns and inner size

  void complain(const char* code, std::string message, std::string help) {
    problems_.add(code, problems_.name() + ":" + std::to_string(line_), std::move(message), std::move(help));
  }

  void take(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') return;
    const KernelFields fields = kernel_fields(line);
    const std::string_view word = fields[0];
    if (!named_ && word != "format") {
      complain("P010", "this is not a table of kernels",
               "its first line that is not a comment is format,debubble.kernels/1");
      problems_.throw_if_any();
    }
    if (word == "format") return take_format(fields);
    if (word == "hardware" || word == "device") return take_text(word, line.substr(word.size()));
    if (word == "source") return take_source(fields, line);
    if (word == "rows" || word == "lengths" || word == "heads" || word == "tokens") return take_axis(fields);
    if (word == "product") return take_product(fields);
    if (word == "product_error" || word == "fit" || word == "sustained" || word == "eager" || word == "grouped" ||
        word == "grouped_error")
      return take_of_kind(fields);
    if (word == "attention" || word == "attention_fill") return take_attention(fields);
    if (word == "memory") return take_memory(fields);
    if (word == "quantised") return take_quantised(fields);
    if (word == "accumulation") return take_accumulation(fields);
    complain("P005", "a line cannot begin with " + in_quotes(word),
             "product, attention, ...: traces/kernels/README.md has all words");
  }

  void take_format(const KernelFields& fields) {
    named_ = true;
    if (fields.size() == 2 && fields[1] == "debubble.kernels/1") return;
    complain("P010", "this format is not debubble.kernels/1", "write format,debubble.kernels/1");
    problems_.throw_if_any();
  }

  void take_text(std::string_view word, std::string_view rest) {
    if (rest.size() < 2) return complain("P007", std::string(word) + " is empty", "name what was measured");
    (word == "hardware" ? tables_.hardware : tables_.device) = std::string(rest.substr(1));
  }

  void take_source(const KernelFields& fields, std::string_view line) {
    const auto rest = [&] { return std::string(line.substr(std::min(line.size(), 8 + fields[1].size()))); };
    if (fields.size() > 2 && fields[1] == "product") {
      tables_.product_source = rest();
    } else if (fields.size() > 2 && fields[1] == "attention") {
      tables_.attention_source = rest();
    } else if (fields.size() > 2 && fields[1] == "memory") {
      tables_.memory_source = rest();
    } else {
      complain("P012", "a source is of nothing",
               "write source,product,WHERE, source,attention,WHERE or source,memory,WHERE");
    }
  }

  // The numbers from field `first` on, each in [least, most]; empty, with a problem, where one is not.
  std::vector<double> numbers(const KernelFields& fields, std::size_t first, double least, double most,
                              std::size_t count) {
    std::vector<double> values;
    for (std::size_t k = first; k < fields.size(); ++k) {
      const auto value = number_of(fields[k]);
      if (!value || *value < least || *value > most) {
        complain("P004", in_quotes(fields[k]) + " is not a number that may stand here",
                 "mend field " + std::to_string(k + 1) + " of the line");
        return {};
      }
      values.push_back(*value);
    }
    if (count > 0 && values.size() == count) return values;
    if (count == 0 && values.size() >= 2) return values;
    complain("P012", "this line has " + std::to_string(values.size()) + " numbers",
             count == 0 ? "an axis has two at least" : "it takes " + std::to_string(count) + ", as many as its axis");
    return {};
  }

  // With a problem where it has been given before.
  bool is_first(const std::string& what) {
    if (given_.insert(what).second) return true;
    complain("P012", in_quotes(what) + " stands here twice", "write it once");
    return false;
  }

  // What lies on an axis comes after it, which says how many numbers it has.
  bool has_axis(const std::vector<double>& axis, const std::string& name) {
    if (!axis.empty()) return true;
    complain("P012", "there are no " + name + " yet", "write the axis " + name + ",... once, before what lies on it");
    return false;
  }

  std::vector<double>& axis_of(std::string_view name) {
    if (name == "lengths") return tables_.attention.lengths;
    if (name == "heads") return tables_.attention.heads;
    return name == "tokens" ? tables_.tokens : rows_;
  }

  void take_axis(const KernelFields& fields) {
    std::vector<double> values = numbers(fields, 1, 1, 1e9, 0);
    if (values.empty()) return;
    if (std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end()) {
      return complain("P012", "this axis does not ascend", "write each size once, the smallest first");
    }
    std::vector<double>& axis = axis_of(fields[0]);
    if (!axis.empty()) {  // what was read lies on the first
      return complain("P012", "the axis " + in_quotes(fields[0]) + " stands here twice",
                      "write it once, before what lies on it");
    }
    for (double& value : values) value = std::log(value);
    axis = std::move(values);
  }

  std::optional<std::size_t> kind_of(std::string_view word) {
    const auto found = std::find(kProductKinds.begin(), kProductKinds.end(), word);
    if (found != kProductKinds.end()) return static_cast<std::size_t>(found - kProductKinds.begin());
    complain("P012", in_quotes(word) + " is not a format of a product", "write bf16, fp8 or fp8-block");
    return std::nullopt;
  }

  void take_product(const KernelFields& fields) {
    const auto kind = kind_of(fields.size() > 1 ? fields[1] : "");
    if (!kind) return;
    if (!has_axis(rows_, "rows")) return;
    const std::vector<double> line = numbers(fields, 2, 1e-6, 1e12, rows_.size() + 2);
    if (line.empty()) return;
    std::vector<double> times(line.begin() + 2, line.end());
    for (double& time : times) time = std::log(time);
    if (!products_.at(*kind).emplace(std::pair{line[0], line[1]}, std::move(times)).second) {
      complain("P012", "this product stands here twice", "write each columns, inner size once");
    }
  }

  void take_of_kind(const KernelFields& fields) {
    const auto kind = kind_of(fields.size() > 1 ? fields[1] : "");
    if (!kind || !is_first(std::string(fields[0]) + "," + std::string(fields[1]))) return;
    ProductTable& table = tables_.products.at(*kind);
    if (fields[0] == "grouped") {
      if (!has_axis(tables_.tokens, "tokens")) return;
      tables_.grouped.at(*kind) = numbers(fields, 2, 1e-3, 1e3, tables_.tokens.size());
    } else if (fields[0] == "sustained") {
      const std::vector<double> one = numbers(fields, 2, 1e-3, 1, 1);
      if (!one.empty()) table.sustained = one[0];
    } else if (fields[0] == "eager") {
      const std::vector<double> two = numbers(fields, 2, 1, 1e9, 2);
      if (!two.empty() && two[0] <= 10) table.eager = two[0];
      if (!two.empty() && two[0] > 10) complain("P004", "eager kernels take more than ten times as long", "mend it");
    } else if (fields[0] == "fit") {
      const std::vector<double> six = numbers(fields, 2, 0, 1e6, 6);
      if (six.empty()) return;
      if (six[0] <= 0) return complain("P004", "a fit's cap is 0", "it is a share of the peak, above 0");
      table.fit = {six[0], six[1], six[2], six[3], {0, six[4], six[5]}};
    } else {
      const std::vector<double> three = numbers(fields, 2, 0, 1e9, 3);
      if (three.empty()) return;
      TableError& error = fields[0] == "grouped_error" ? tables_.grouped_error.at(*kind) : table.error;
      error = {static_cast<std::int64_t>(three[0]), three[1], three[2]};
    }
  }

  void take_quantised(const KernelFields& fields) {
    const auto kind = kind_of(fields.size() > 1 ? fields[1] : "");
    if (!kind || !is_first(std::string(fields[0]) + "," + std::string(fields[1]))) return;
    tables_.products.at(*kind).quantised_apart = fields.size() == 3 && fields[2] == "apart";
    if (!tables_.products.at(*kind).quantised_apart) {
      complain("P012", "this line does not say how factors are quantised",
               "write quantised,fp8-block,apart or nothing");
    }
  }

  // One inner size a line, the smallest first.
  void take_accumulation(const KernelFields& fields) {
    const std::vector<double> two = numbers(fields, 1, 0, 1e9, 2);
    if (two.empty()) return;
    AccumulationTable& table = tables_.accumulation;
    if (two[0] < 1 || two[1] > 10) {
      return complain("P004", "this line is not of an inner size and a share", "write accumulation,4096,0.5");
    }
    if (!table.inner.empty() && std::log(two[0]) <= table.inner.back()) {
      return complain("P012", "this inner size does not ascend", "write each size once, the smallest first");
    }
    table.inner.push_back(std::log(two[0]));
    table.shown.push_back(two[1]);
  }

  // Lines of it come as their lengths do.
  void take_attention_fill(const KernelFields& fields) {
    AttentionTable& table = tables_.attention;
    if (!has_axis(table.lengths, "lengths") || !has_axis(table.heads, "heads")) return;
    const std::vector<double> line = numbers(fields, 1, 1e-4, 1e9, table.heads.size() + 1);
    if (line.empty()) return;
    const std::size_t before = table.fill.size() / table.heads.size();
    if (before >= table.lengths.size() || std::log(line[0]) != table.lengths[before]) {
      return complain("P012", "this line is not that of the next length",
                      "write one line for each of the lengths, in their order");
    }
    table.fill.insert(table.fill.end(), line.begin() + 1, line.end());
  }

  void take_attention(const KernelFields& fields) {
    if (fields[0] == "attention_fill") return take_attention_fill(fields);
    AttentionTable& table = tables_.attention;
    const bool words = fields.size() > 3 && (fields[1] == "fwd" || fields[1] == "bwd") &&
                       (fields[2] == "causal" || fields[2] == "full");
    if (!words) {
      return complain("P012", "an attention is of no pass and mask",
                      "write attention,fwd|bwd,causal|full,KEY,VALUE,...");
    }
    if (!has_axis(table.lengths, "lengths")) return;
    const std::vector<double> line = numbers(fields, 3, 1e-4, 1e6, table.lengths.size() + 2);
    if (line.empty()) return;
    AttentionKind kind;
    kind.backward = fields[1] == "bwd";
    kind.causal = fields[2] == "causal";
    kind.key = static_cast<std::int64_t>(line[0]);
    kind.value = static_cast<std::int64_t>(line[1]);
    std::vector<double> shares(line.begin() + 2, line.end());
    const bool possible =
        kind.key > 0 && kind.value > 0 && std::all_of(shares.begin(), shares.end(), [](double s) { return s <= 1; });
    if (!possible) return complain("P004", "a share of the peak is above 1", "shares go from 0 to 1, sizes from 1");
    if (!table.shares.emplace(kind, std::move(shares)).second) {
      complain("P012", "this attention stands here twice", "write each pass, mask and size of a head once");
    }
  }

  void take_memory(const KernelFields& fields) {
    const std::vector<double> one = numbers(fields, 2, 1e-3, 1, 1);
    if (one.empty()) return;
    if (fields[1] != "fwd" && fields[1] != "bwd") {
      return complain("P012", in_quotes(fields[1]) + " is not a pass", "write memory,fwd,SHARE and memory,bwd,SHARE");
    }
    if (!is_first("memory," + std::string(fields[1]))) return;
    (fields[1] == "fwd" ? tables_.memory_forward : tables_.memory_backward) = one[0];
  }

  // Of one format: a whole grid, every columns with every inner size.
  void fill_grid(ProductRows& rows, ProductTable& table) {
    std::set<double> columns;
    std::set<double> inner;
    for (const auto& [at, times] : rows) {
      columns.insert(at.first);
      inner.insert(at.second);
    }
    if (columns.size() < 2 || inner.size() < 2 || columns.size() * inner.size() != rows.size() ||
        *columns.begin() < 1 || *inner.begin() < 1) {
      return problems_.add("P012", problems_.name(), "products are not a whole grid",
                           "write one line for every columns with every inner size, two of each at least");
    }
    table.rows = rows_;
    for (const double size : columns) table.columns.push_back(std::log(size));
    for (const double size : inner) table.inner.push_back(std::log(size));
    for (const auto& [at, times] : rows) table.log_us.insert(table.log_us.end(), times.begin(), times.end());
  }

  void finish() {
    const auto lacks = [this](const std::string& what) {
      problems_.add("P006", problems_.name(), "the file has no " + what, "add it: traces/kernels/README.md");
    };
    if (!named_) return lacks("line format,debubble.kernels/1");
    if (tables_.hardware.empty()) lacks("line hardware,NAME");
    if (tables_.device.empty()) lacks("line device,WHAT");
    if (tables_.product_source.empty()) lacks("line source,product,WHERE");
    if (tables_.memory_forward == 0 || tables_.memory_backward == 0) lacks("lines memory,fwd and memory,bwd");
    for (std::size_t kind = 0; kind < products_.size(); ++kind) {
      if (!products_.at(kind).empty()) fill_grid(products_.at(kind), tables_.products.at(kind));
    }
    if (products_[0].empty()) lacks("products in bf16");
    const AttentionTable& attention = tables_.attention;
    if (!attention.fill.empty() && attention.fill.size() != attention.lengths.size() * attention.heads.size()) {
      problems_.add("P012", problems_.name(), "attention_fill has not one line for each length", "add the others");
    }
  }

  std::string_view text_;
  ProblemList problems_;
  KernelTables tables_;
  std::vector<double> rows_;
  std::array<ProductRows, 3> products_;
  std::set<std::string> given_;  // of the lines that may stand once
  std::int64_t line_ = 0;
  bool named_ = false;
};

}  // namespace

KernelTables read_kernels(std::string_view text, const std::string& name) { return KernelsReader(text, name).read(); }

std::shared_ptr<const KernelTables> installed_kernels(const std::string& name) {
  if (name.empty()) return nullptr;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const KernelTables>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const std::string file = shared_file("kernels/" + name + ".csv", "the table of kernels measured on " + name).string();
  return known.emplace(name, std::make_shared<const KernelTables>(read_kernels(read_file(file, file), file)))
      .first->second;
}

}  // namespace debubble
