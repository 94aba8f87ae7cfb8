// Writes tables of kernels as read_kernels reads them.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "scenario/request/kernel_file.hpp"

namespace debubble {
namespace {

// ",256,512": of logarithms what they are of.
std::string joined_numbers(const std::vector<double>& values, std::size_t from, std::size_t count, bool logs) {
  std::string text;
  for (std::size_t k = from; k < from + count; ++k)
    text += fmt::format(",{:.6g}", logs ? std::exp(values[k]) : values[k]);
  return text;
}

// Whole sizes: a logarithm's exponential may be off in its last digit.
std::string joined_sizes(const std::vector<double>& logs) {
  std::string text;
  for (const double one : logs) text += fmt::format(",{:.0f}", std::exp(one));
  return text;
}

std::string products_text(const ProductTable& table, const std::string& word) {
  const ProductFit& fit = table.fit;
  std::string text =
      fmt::format("product_error,{},{},{:.4f},{:.4f}\n", word, table.error.rows, table.error.median, table.error.tenth);
  text += fmt::format("fit,{},{:.4g},{:.4g},{:.4g},{:.4g},{:.4f},{:.4f}\n", word, fit.cap, fit.k0, fit.a0, fit.t0,
                      fit.error.median, fit.error.tenth);
  if (table.sustained < 1) text += fmt::format("sustained,{},{:.3f}\n", word, table.sustained);
  std::size_t at = 0;
  for (const double n : table.columns) {
    for (const double k : table.inner) {
      text += fmt::format("product,{},{:.0f},{:.0f}", word, std::exp(n), std::exp(k)) +
              joined_numbers(table.log_us, at, table.rows.size(), true) + "\n";
      at += table.rows.size();
    }
  }
  return text;
}

std::string attention_text(const AttentionTable& table) {
  std::string text = "lengths" + joined_sizes(table.lengths) + "\n";
  if (!table.heads.empty()) text += "heads" + joined_sizes(table.heads) + "\n";
  for (const auto& [kind, shares] : table.shares) {
    text += fmt::format("attention,{},{},{},{}", kind.backward ? "bwd" : "fwd", kind.causal ? "causal" : "full",
                        kind.key, kind.value) +
            joined_numbers(shares, 0, shares.size(), false) + "\n";
  }
  const std::size_t heads = table.heads.size();
  for (std::size_t k = 0; heads > 0 && k < table.fill.size() / heads; ++k) {
    text += fmt::format("attention_fill,{:.0f}", std::exp(table.lengths[k])) +
            joined_numbers(table.fill, k * heads, heads, false) + "\n";
  }
  return text;
}

}  // namespace

std::string write_kernels(const KernelTables& tables) {
  std::string text =
      "# Made of measured products; what each line is: traces/kernels/README.md of debubble.\n"
      "format,debubble.kernels/1\nhardware," +
      tables.hardware + "\ndevice," + tables.device + "\nsource,product," + tables.product_source + "\n";
  text += "rows" + joined_sizes(tables.products[0].rows) + "\n";
  for (std::size_t kind = 0; kind < tables.products.size(); ++kind) {
    const ProductTable& table = tables.products.at(kind);
    if (!table.empty()) text += products_text(table, kProductKinds.at(kind));
  }
  if (!tables.attention.empty()) {
    text += "source,attention," + tables.attention_source + "\n" + attention_text(tables.attention);
  }
  for (std::size_t k = 0; k < tables.accumulation.inner.size(); ++k) {
    text += fmt::format("accumulation,{:.0f},{:.4g}\n", std::exp(tables.accumulation.inner[k]),
                        tables.accumulation.shown[k]);
  }
  text += "source,memory," + tables.memory_source + "\n";
  text += fmt::format("memory,fwd,{:.6g}\nmemory,bwd,{:.6g}\n", tables.memory_forward, tables.memory_backward);
  return text;
}

}  // namespace debubble
