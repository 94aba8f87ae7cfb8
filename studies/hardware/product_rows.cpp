// The reader of measured products.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "cost_models/transformer/tabled_time.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/median.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"
#include "studies/hardware/products.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kProductsDialect{.what = "table of measured products", .description = "docs/hardware.md"};
constexpr std::size_t kMostProducts = 50'000;
constexpr std::int64_t kLargestProduct = 10'000'000;  // of one size
constexpr std::size_t kLongestLine = 400;
constexpr const char* kHeaderHelp = "the first line is m,n,k,dtype,time_us (or time_ns, time_ms, time_s)";
constexpr std::array<const char*, 5> kProductTypes{"fp32", "bf16", "fp16", "fp8", "fp8-block"};
constexpr std::array<std::pair<std::string_view, double>, 4> kTimeColumns{
    {{"time_ns", 1e-3}, {"time_us", 1}, {"time_ms", 1e3}, {"time_s", 1e6}}};

double product_peak(const Hardware& hardware, const std::string& dtype) {
  if (dtype == "fp32") return hardware.fp32_flops;
  return dtype.starts_with("fp8") ? hardware.fp8_flops : hardware.half_flops;
}

class ProductReader {
 public:
  ProductReader(std::string_view text, const std::string& name, const Hardware& hardware)
      : text_(text), hardware_(hardware), problems_(name, kProductsDialect) {}

  std::vector<MeasuredProduct> read() {
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
    if (columns_.empty()) problems_.add("P006", problems_.name(), "the file is empty", kHeaderHelp);
    if (!columns_.empty() && times_.empty() && problems_.empty()) {
      problems_.add("P006", problems_.name(), "there are no products", "write one a line: 4096,4096,4096,bf16,214.5");
    }
    problems_.throw_if_any();
    return merged();
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>;

  void complain(const char* code, std::string message, std::string help) {
    problems_.add(code, problems_.name() + ":" + std::to_string(line_), std::move(message), std::move(help));
  }

  static std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
  }

  void take(std::string_view line) {
    const std::string text = trimmed(std::string(line));
    if (text.empty() || text.front() == '#') return;
    if (text.size() > kLongestLine) return complain("P017", "this line is too long", "a product is five short fields");
    std::vector<std::string> fields = split(text);
    for (std::string& field : fields) field = trimmed(field);
    if (columns_.empty()) return take_header(fields);
    if (fields.size() != columns_.size()) {
      return complain("P012",
                      "this line has " + std::to_string(fields.size()) + " fields; the header has " +
                          std::to_string(columns_.size()),
                      "write one for each column");
    }
    take_product(fields);
  }

  void take_header(const std::vector<std::string>& fields) {
    std::vector<std::string> known{"m", "n", "k", "dtype"};
    for (const auto& [name, scale] : kTimeColumns) known.emplace_back(name);
    int times = 0;
    for (const std::string& field : fields) {
      columns_.push_back(field);
      if (std::find(known.begin(), known.end(), field) == known.end()) {
        const std::string meant = closest_name(field, known);
        complain("P005", "unknown column " + in_quotes(field),
                 meant.empty() ? kHeaderHelp : "did you mean " + meant + "? " + kHeaderHelp);
      } else if (std::count(fields.begin(), fields.end(), field) > 1) {
        complain("P012", "the column " + in_quotes(field) + " stands here twice", "keep one of them");
      }
      for (const auto& [name, scale] : kTimeColumns) {
        if (field != name) continue;
        scale_ = scale;
        ++times;
      }
    }
    for (const char* needed : {"m", "n", "k", "dtype"}) {
      if (std::find(fields.begin(), fields.end(), needed) == fields.end()) {
        complain("P006", "there is no column " + in_quotes(needed), kHeaderHelp);
      }
    }
    if (times != 1) {
      complain("P006", times == 0 ? "there is no column of times with its unit" : "there are several columns of times",
               kHeaderHelp);
    }
    problems_.throw_if_any();  // no line would mean anything
  }

  void take_product(const std::vector<std::string>& fields) {
    MeasuredProduct made;
    made.line = line_;
    bool fits = true;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const std::string& column = columns_[k];
      if (column == "dtype") {
        made.dtype = fields[k];
        const auto* const found = std::find(kProductTypes.begin(), kProductTypes.end(), made.dtype);
        if (found != kProductTypes.end()) continue;
        fits = false;
        complain("P012", in_quotes(made.dtype) + " is not a format of products",
                 "write fp32, bf16, fp16, fp8 or fp8-block");
      } else if (column == "m" || column == "n" || column == "k") {
        const std::optional<std::int64_t> size = count_of(fields[k], kLargestProduct);
        if (size && *size >= 1) {
          (column == "m" ? made.m : column == "n" ? made.n : made.k) = *size;
          continue;
        }
        fits = false;
        complain("P004", in_quotes(fields[k]) + " is not a size of a matrix", "a whole number from 1 to 10000000");
      } else {
        const std::optional<double> time = number_of(fields[k]);
        made.us = time.value_or(0) * scale_;
        if (time && made.us >= 1e-3 && made.us <= 1e9) continue;
        fits = false;
        complain("P004", in_quotes(fields[k]) + " is not the time of a product", "from 1 ns to 1000 s, in " + column);
      }
    }
    if (fits) keep(made);
  }

  void keep(const MeasuredProduct& made) {
    const double peak = product_peak(hardware_, made.dtype);
    const double rate = product_rate(made);
    if (peak <= 0) {
      return complain("P012", hardware_.name + " has no units for " + made.dtype + " products",
                      "name the hardware that was measured with --hardware");
    }
    constexpr double kMostOverPeak = 1.1;  // boost clocks
    if (rate > peak * kMostOverPeak) {
      return complain("P012",
                      plain(static_cast<double>(static_cast<std::int64_t>(rate / 1e10)) / 100) +
                          " TFLOP/s is above the peak of " + hardware_.name + ", " + plain(peak / 1e12),
                      "look at the unit of the time, and at --hardware");
    }
    if (count_ == kMostProducts) {
      complain("P017", "the file has more than 50000 products", "leave out sizes that no layer has");
      problems_.throw_if_any();
    }
    ++count_;
    auto [found, fresh] = times_.try_emplace(Key{made.m, made.n, made.k, made.dtype});
    if (fresh) order_.push_back(made);
    found->second.push_back(made.us);
  }

  std::vector<MeasuredProduct> merged() {
    for (MeasuredProduct& one : order_) one.us = upper_median(times_.at(Key{one.m, one.n, one.k, one.dtype}));
    return std::move(order_);
  }

  std::string_view text_;
  const Hardware& hardware_;
  ProblemList problems_;
  std::vector<std::string> columns_;
  double scale_ = 1;
  std::map<Key, std::vector<double>> times_;
  std::vector<MeasuredProduct> order_;
  std::size_t count_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace

std::vector<MeasuredProduct> read_products(std::string_view text, const std::string& name, const Hardware& hardware) {
  return ProductReader(text, name, hardware).read();
}

// By time: the first product that is as large as another in all three sizes is the fastest such one.
std::int64_t hold_to_larger(std::vector<MeasuredProduct>& products) {
  constexpr double kNoise = 1.05;
  std::vector<MeasuredProduct> fastest_first = products;
  std::stable_sort(fastest_first.begin(), fastest_first.end(),
                   [](const MeasuredProduct& a, const MeasuredProduct& b) { return a.us < b.us; });
  std::int64_t slow = 0;
  for (MeasuredProduct& one : products) {
    const auto holds = [&one](const MeasuredProduct& other) {
      return other.m >= one.m && other.n >= one.n && other.k >= one.k && other.dtype == one.dtype;
    };
    const double us = std::find_if(fastest_first.begin(), fastest_first.end(), holds)->us;  // itself at the latest
    if (one.us > us * kNoise) ++slow;
    one.us = us;
  }
  return slow;
}

}  // namespace debubble
