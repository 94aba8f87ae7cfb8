#include "formats/files/file_kind.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

namespace debubble {
namespace {

struct FileHead {
  std::string_view text;
  std::string_view name;

  [[nodiscard]] bool has(std::string_view part) const { return text.find(part) != std::string_view::npos; }
  [[nodiscard]] bool begins(std::string_view part) const { return text.starts_with(part); }
  // {"format": "debubble.profile/1"}, or the first line of a CSV: format,debubble.kernels/1
  [[nodiscard]] bool is_format(std::string_view format) const {
    for (const std::string_view key : {"\"schema\"", "\"format\"", "format,"}) {
      const std::size_t at = text.find(key);
      if (at == std::string_view::npos) continue;
      const std::size_t value = text.find_first_not_of("\": \t\n", at + key.size());
      if (value != std::string_view::npos && text.substr(value).starts_with(format)) return true;
    }
    return false;
  }
};

struct KindRow {
  FileKind kind;
  bool (*is)(const FileHead&) = nullptr;
};

// Its first cell that is not empty is an op, "0F3", or a pair of them, "(0F3;1B0)OVERLAP_F_B".
bool is_table_of_ops(const FileHead& head) {
  constexpr std::string_view kDigits = "0123456789";
  if (!head.name.ends_with(".csv")) return false;
  const std::size_t stage = std::min(head.text.find_first_not_of(", \t\r\n("), head.text.size());
  const std::size_t kind = std::min(head.text.find_first_not_of(kDigits, stage), head.text.size());
  if (kind == stage || kind + 1 >= head.text.size()) return false;
  return std::string_view("FBIW").find(head.text[kind]) != std::string_view::npos &&
         kDigits.find(head.text[kind + 1]) != std::string_view::npos;
}

bool is_deepspeed(const FileHead& head) {
  return head.begins("{") && (head.has("\"train_batch_size\"") || head.has("\"train_micro_batch_size_per_gpu\"") ||
                              head.has("\"zero_optimization\""));
}

// Its keys stand before any table; configurations of frameworks have tables alone.
bool is_scenario(const FileHead& head) {
  if (!head.name.ends_with(".toml")) return false;
  std::string_view rest = head.text;
  while (rest.starts_with("#")) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  }
  return !rest.empty() && !rest.starts_with("[");
}

bool is_torchtitan(const FileHead& head) {
  return head.name.ends_with(".toml") && (head.has("[parallelism]") || head.has("[training]") || head.has("[job]"));
}

// The first row that says yes.
std::span<const KindRow> kind_rows() {
  static const std::array rows{
      KindRow{{"a figure", {}},
              [](const FileHead& h) { return h.begins("<svg") || h.begins("%PDF") || h.begins("\x89PNG"); }},
      KindRow{{"an HTML page", {}},
              [](const FileHead& h) { return h.begins("<!doctype html") || h.begins("<!DOCTYPE html"); }},
      KindRow{{"a recording of Nsight Systems", {"import --from nsys", "import --from run", "diff"}},
              [](const FileHead& h) { return h.begins("SQLite format 3"); }},
      KindRow{{"a Chrome trace", {"diff", "import --from kineto", "import --from run", "--run"}},
              [](const FileHead& h) { return h.has("\"traceEvents\"") || (h.begins("[") && h.has("\"ph\"")); }},
      KindRow{{"a report that debubble printed", {}},
              [](const FileHead& h) { return h.begins("{\n  \"schema_version\"") || h.begins("device,busy_ns,"); }},
      KindRow{{"a profile of layer times", {"--profile"}},
              [](const FileHead& h) { return h.is_format("debubble.profile/"); }},
      KindRow{{"a suite of checks", {"check"}}, [](const FileHead& h) { return h.is_format("debubble.suite/"); }},
      KindRow{{"the baseline of a suite", {}}, [](const FileHead& h) { return h.is_format("debubble.baseline/"); }},
      KindRow{{"a topology", {"--topology"}}, [](const FileHead& h) { return h.is_format("debubble.topology/"); }},
      KindRow{{"a run", {"diff", "--run", "--slow", "import --from run"}},
              [](const FileHead& h) { return h.is_format("debubble.run/"); }},
      KindRow{{"a schedule", {"--schedule", "--schedules"}},
              [](const FileHead& h) { return h.is_format("debubble.schedule/"); }},
      KindRow{{"a file of hardware", {"--hardware", "explain hardware"}},
              [](const FileHead& h) { return h.is_format("debubble.hardware/"); }},
      KindRow{{"a table of kernel efficiencies", {"--efficiency"}},
              [](const FileHead& h) { return h.is_format("debubble.efficiency/"); }},
      KindRow{{"a table of kernel times", {"--kernels"}},
              [](const FileHead& h) { return h.is_format("debubble.kernels/"); }},
      KindRow{{"factors of microbatch sizes", {"--factors"}},
              [](const FileHead& h) { return h.is_format("debubble.factors/"); }},
      KindRow{{"a schedule table", {"--schedule", "--schedules"}}, is_table_of_ops},
      KindRow{{"the config.json of a Hugging Face model", {"--model", "list models"}},
              [](const FileHead& h) { return h.begins("{") && h.has("\"model_type\""); }},
      KindRow{{"a configuration of DeepSpeed", {"import --from deepspeed", "import --from neox", "--file"}},
              is_deepspeed},
      KindRow{{"a configuration of torchtitan", {"import --from torchtitan"}}, is_torchtitan},
      KindRow{{"a scenario file", {"--config", "--to", "compare", "diff", "--script", "--run"}}, is_scenario},
      KindRow{{"a training log of Megatron-LM", {"--log", "--script", "import --from megatron"}},
              [](const FileHead& h) { return h.has("elapsed time per iteration") && !h.begins("#!"); }},
      KindRow{{"a shell script", {"import --from megatron", "--script"}},
              [](const FileHead& h) { return h.begins("#!") && (h.has("sh\n") || h.name.ends_with(".sh")); }},
  };
  return rows;
}

// Plain or in gzip.
std::string first_bytes(const std::string& path) {
  constexpr unsigned kMost = 1U << 16U;
  std::string text(kMost, '\0');
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  const int read = gzread(file, text.data(), kMost);
  gzclose(file);
  text.resize(static_cast<std::size_t>(std::max(read, 0)));
  return text;
}

}  // namespace

const FileKind* kind_of_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed) || failed) return nullptr;
  const std::string text = first_bytes(path);
  std::string_view shown = text;
  shown.remove_prefix(std::min(shown.find_first_not_of(" \t\r\n"), shown.size()));
  std::string name = path;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const KindRow& row : kind_rows()) {
    if (row.is({shown, name})) return &row.kind;
  }
  return nullptr;
}

bool takes_files(std::string_view flag) {
  if (!flag.starts_with("--")) return false;
  const std::span<const KindRow> rows = kind_rows();
  return std::any_of(rows.begin(), rows.end(), [&](const KindRow& row) {
    return std::find(row.kind.takers.begin(), row.kind.takers.end(), flag) != row.kind.takers.end();
  });
}

}  // namespace debubble
