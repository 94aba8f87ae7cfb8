#include "tools/commands/import_products.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "cost_models/transformer/kernel_time.hpp"
#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/text/shell.hpp"
#include "scenario/request/hardware_fields.hpp"
#include "scenario/request/hardware_file.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/words.hpp"
#include "studies/hardware/products.hpp"
#include "tools/output/hardware_names.hpp"
#include "tools/output/stderr_line.hpp"

namespace debubble {
namespace {

std::shared_ptr<const KernelTables> tables_before(const Hardware& hardware) {
  if (hardware.own != nullptr && hardware.own->tables != nullptr) return hardware.own->tables;
  return installed_kernels(hardware.kernels);
}

bool has_sixteen_bits(const std::vector<MeasuredProduct>& products) {
  return std::any_of(products.begin(), products.end(),
                     [](const MeasuredProduct& one) { return one.dtype == "bf16" || one.dtype == "fp16"; });
}

std::string source_of_products(const std::string& file, const std::vector<MeasuredProduct>& products) {
  std::string name = std::filesystem::path(file).filename().string();
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';  // a line of the table
  }
  return name + ", " + counted(static_cast<std::int64_t>(products.size()), "product");
}

// The hardware with shares that fit these products, and the table beside.
int write_hardware_file(const std::string& file, const Hardware& hardware, const std::vector<MeasuredProduct>& products,
                        const std::string& output) {
  HardwareFigures figures = figures_of(hardware);
  HardwareSources sources = hardware_sources(hardware);
  const SharesFit fit = fit_shares(products, hardware);
  figures.shares.matrix = fit.shares.matrix;
  figures.shares.half_k = fit.shares.half_k;
  figures.shares.sustained = 1;
  const std::string where = source_of_products(file, products);
  const HardwareSource fitted{Source::kMeasured, where + "; " + error_text(fit.error)};
  sources["shares/matrix"] = sources["shares/half_k"] = fitted;
  sources["shares/sustained"] = {Source::kDefault, "products of a table say nothing of long runs"};
  const std::string name = own_name(output, hardware.own != nullptr ? hardware.name : "my-" + hardware.name);
  std::string table;
  std::optional<OutputFile> beside;
  OutputFile out(output);
  if (has_sixteen_bits(products)) {
    Hardware renamed = hardware;
    renamed.name = name;
    table = table_beside(output);
    beside.emplace((std::filesystem::path(output).parent_path() / table).string());
    beside->write(write_kernels(tables_of(products, renamed, {hardware.name, where, tables_before(hardware)}, file)));
    sources["kernels/of"] = {Source::kMeasured, where};
  }
  figures.hardware.kernels.clear();
  figures.hardware.own.reset();
  out.write(write_hardware(figures, sources, name, table));
  if (beside) beside->commit();
  out.commit();
  stderr_line("shares of " + fit.dtype + " products fitted: " + error_text(fit.error));
  if (beside) stderr_line("the table of kernels is in " + table);
  stderr_line("next: debubble explain hardware " + shell_file(output));
  return kExitOk;
}

}  // namespace

int import_products(const std::string& file, const std::string& hardware_name, const std::string& output) {
  if (hardware_name.empty()) {
    throw InputError(Diagnostic{"C061", "--hardware", "nothing says which hardware was measured",
                                "add --hardware NAME or FILE.json; `debubble list hardware` shows the names"});
  }
  const std::shared_ptr<const Hardware> hardware = hardware_named(hardware_name, "--hardware");
  std::vector<MeasuredProduct> products = read_products(read_file(file, "FILE"), file, *hardware);
  if (const std::int64_t slow = hold_to_larger(products); slow > 0) {
    stderr_line("note: " + std::to_string(slow) + " of " + counted(std::ssize(products), "product") +
                " took over 5 % longer than a larger one; the larger one's time is used");
  }
  if (output.ends_with(".json")) return write_hardware_file(file, *hardware, products, output);
  const bool single =
      std::any_of(products.begin(), products.end(), [](const MeasuredProduct& one) { return one.dtype == "fp32"; });
  const KernelTables tables = tables_of(
      products, *hardware, {hardware->name, source_of_products(file, products), tables_before(*hardware)}, file);
  OutputFile out(output);
  out.write(write_kernels(tables));
  out.commit();
  if (single) stderr_line("note: products in fp32 are left out: tables of kernels have none");
  for (std::size_t kind = 0; kind < tables.products.size(); ++kind) {
    const ProductTable& table = tables.products.at(kind);
    if (table.empty()) continue;
    stderr_line(std::string(kProductKinds.at(kind)) + ": " + counted(table.error.rows, "product") +
                "; each left out and predicted by the others: " + error_text(table.error));
  }
  if (output != "-") {
    stderr_line("next: debubble simulate --model llama3-8b -p 4 -m 8 --hardware " + shell_file(hardware_name) +
                " --kernels " + shell_file(output));
  }
  return kExitOk;
}

}  // namespace debubble
