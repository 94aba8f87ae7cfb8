#include "scenario/request/hardware_file.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cost_models/transformer/kernel_time.hpp"
#include "formats/files/read_file.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/hardware_fields.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kHardwareDialect{
    .what = "file of hardware", .description = "docs/hardware.schema.json", .most_values = 1000, .most_items = 100};
constexpr std::size_t kLongestHardwareName = 60;
constexpr const char* kSourceHelp = R"(write "measured: WHERE", "published: WHERE", "modelled: HOW" or "assumed: WHY")";

// Of the tables that debubble brings.
std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const Hardware& one : hardware_presets()) {
    if (!one.kernels.empty() && std::find(names.begin(), names.end(), one.kernels) == names.end()) {
      names.push_back(one.kernels);
    }
  }
  return names;
}

class HardwareReader {
 public:
  HardwareReader(std::string_view text, const std::string& name, const TableBeside& beside)
      : text_(text), beside_(beside), problems_(name, kHardwareDialect) {}

  Hardware read() {
    const std::optional<JsonValue> tree = parse_json(text_, problems_);
    problems_.throw_if_any();
    JsonObjectReader reader(*tree, "", problems_);
    if (!reader.has_format("format", kHardwareFormat, R"(its first member is "format": "debubble.hardware/1")")) {
      problems_.throw_if_any();
    }
    own_->file = problems_.name();
    figures_.shares = usual_efficiency(Hardware{});
    take_name(reader);
    figures_.hardware.source = reader.optional_text("description");
    take_groups(reader);
    take_kernels(reader);
    reader.finish();
    problems_.throw_if_any();
    own_->shares = figures_.shares;
    own_->links = figures_.links;
    figures_.hardware.own = own_;
    return std::move(figures_.hardware);
  }

 private:
  void take_name(JsonObjectReader& reader) {
    const std::string name = reader.text("name");
    figures_.hardware.name = name;
    if (name.empty()) return;
    if (!is_hardware_name(name)) {
      reader.complain("P012", "name", in_quotes(name) + " cannot be the name of hardware",
                      "letters, digits, '-', '_' and '.', at most 60: reports show it");
    } else if (find_hardware(name) != nullptr) {
      reader.complain("P012", "name", in_quotes(name) + " is the name of hardware that debubble knows",
                      "give it a name of its own, like my-" + name + ": reports must not take one for the other");
    }
  }

  // One object for each group; its members are the fields of that group.
  void take_groups(JsonObjectReader& reader) {
    std::string_view before;
    bool bandwidth_of_link = false;
    for (const HardwareField& field : hardware_fields()) {
      if (field.group == before) continue;
      before = field.group;
      const bool needed = before == "memory" || before == "peak_tflops";
      const JsonValue* value = reader.member(before, needed);
      if (value == nullptr) {
        for (const HardwareField& one : hardware_fields()) {
          if (one.group == before) without(one);
        }
        continue;
      }
      JsonObjectReader group(*value, reader.pointer_to(before), problems_);
      if (!group.is_object()) continue;
      if (before == "shares") take_shares_of(group);
      bool any = false;
      for (const HardwareField& one : hardware_fields()) {
        if (one.group != before) continue;
        const bool given = take_field(group, one);
        any = any || given;
        if (given && one.name() == "link/bandwidth") bandwidth_of_link = true;
      }
      if (before == "peak_tflops" && !any) {
        group.complain("P006", "", "no peak is given", R"(write "bf16": {"value": 989.4, "source": "published: ..."})");
      }
      group.finish();
    }
    if (!bandwidth_of_link) figures_.hardware.link_bandwidth = figures_.hardware.host_bandwidth;
  }

  // What holds for a figure that the file lacks, and says so.
  void without(const HardwareField& field) {
    const std::string name = field.name();
    if (own_->sources.contains(name)) return;  // of another GPU's shares
    if (name == "host/bandwidth") figures_.hardware.host_bandwidth = 24'000'000'000;
    if (name == "link/latency") figures_.hardware.link_latency = 3400;
    if (*field.without == '\0') return;
    const bool derived = name == "link/bandwidth" || name == "processors/count";
    own_->sources[name] = {derived ? Source::kModelled : Source::kDefault,
                           std::string("not in the file: ") + field.without};
  }

  bool take_field(JsonObjectReader& group, const HardwareField& field) {
    const JsonValue* value = group.member(field.key, field.required);
    if (value == nullptr) {
      without(field);
      return false;
    }
    JsonObjectReader figure(*value, group.pointer_to(field.key), problems_);
    if (!figure.is_object()) return true;
    if (const JsonValue* amount = figure.member("value", true)) take_amount(figure, field, *amount);
    own_->sources[field.name()] = take_source(figure);
    figure.finish();
    return true;
  }

  HardwareSource take_source(JsonObjectReader& figure) {
    const std::string text = figure.text("source");
    if (text.empty()) return {};
    if (const std::optional<HardwareSource> source = parse_hardware_source(text)) return *source;
    figure.complain("P012", "source", in_quotes(text) + " does not say how certain the figure is, and where from",
                    kSourceHelp);
    return {};
  }

  void take_amount(JsonObjectReader& figure, const HardwareField& field, const JsonValue& given) {
    const std::optional<double> value = amount_of(figure, field, given);
    if (!value) return;
    const double in_file = field.unit == FigureUnit::kTera ? *value / 1e12 : *value;
    if (in_file >= field.least && in_file <= field.most) return field.set(figures_, *value);
    figure.complain(
        "P004", "value", describe(given) + " is out of range",
        field.name() + " goes from " + limit_text(field, field.least) + " to " + limit_text(field, field.most));
  }

  static std::string limit_text(const HardwareField& field, double value) {
    return figure_text(field, field.unit == FigureUnit::kTera ? value * 1e12 : value);
  }

  std::optional<double> amount_of(JsonObjectReader& figure, const HardwareField& field, const JsonValue& given) {
    const auto wrong = [&](const char* help) {
      figure.complain("P007", "value", describe(given) + " is not a figure of that kind", help);
      return std::optional<double>();
    };
    using Kind = JsonValue::Kind;
    const bool number = given.kind == Kind::kInteger || given.kind == Kind::kFraction;
    switch (field.unit) {
      case FigureUnit::kTera:
        if (!number || !number_of(given.text)) return wrong("TFLOP/s as a number: 989.4");
        return *number_of(given.text) * 1e12;
      case FigureUnit::kCount:
        if (given.kind != Kind::kInteger) return wrong("a whole number: 132");
        return static_cast<double>(given.integer);
      case FigureUnit::kShare:
      case FigureUnit::kNumber:
        if (!number || !number_of(given.text)) return wrong("a number: 0.8");
        return number_of(given.text);
      case FigureUnit::kSwitch:
        if (given.kind != Kind::kBoolean) return wrong("true or false");
        return given.text == "true" ? 1.0 : 0.0;
      case FigureUnit::kLinks:
        return links_of(figure, given);
      case FigureUnit::kSize:
      case FigureUnit::kBandwidth:
      case FigureUnit::kDuration:
        break;
    }
    return quantity_of(figure, field, given);
  }

  std::optional<double> links_of(JsonObjectReader& figure, const JsonValue& given) {
    if (given.kind == JsonValue::Kind::kString && given.text == "none") return 0.0;
    if (const auto links = links_named(given.text); links && given.kind == JsonValue::Kind::kString) {
      return 1.0 + static_cast<double>(*links);
    }
    figure.complain("P012", "value", describe(given) + " is not a kind of links that NCCL's latencies are known of",
                    R"(write "PCIe", "NVLink 2", "NVLink 3", "NVLink 4", "NVLink 5" or "none")");
    return std::nullopt;
  }

  std::optional<double> quantity_of(JsonObjectReader& figure, const HardwareField& field, const JsonValue& given) {
    const char* like = field.unit == FigureUnit::kSize        ? R"(a size with its unit: "80GiB")"
                       : field.unit == FigureUnit::kBandwidth ? R"(a bandwidth with its unit: "3350GB/s")"
                                                              : R"(a time with its unit: "3.4us")";
    if (given.kind != JsonValue::Kind::kString) {
      figure.complain("P007", "value", describe(given) + " is not a figure of that kind", like);
      return std::nullopt;
    }
    const std::string place = problems_.name() + "#" + figure.pointer_to("value");
    try {
      if (field.unit == FigureUnit::kSize) return static_cast<double>(parse_size(given.text, place));
      if (field.unit == FigureUnit::kBandwidth) return static_cast<double>(parse_bandwidth(given.text, place));
      return static_cast<double>(parse_duration(given.text, place));
    } catch (const InputError& error) {
      for (const Diagnostic& one : error.diagnostics()) problems_.add(one.code, one.place, one.message, one.help);
    }
    return std::nullopt;
  }

  // {"of": "a100-80", "source": "assumed: ..."}: another GPU's shares, which single ones beside replace.
  void take_shares_of(JsonObjectReader& group) {
    const JsonValue* of = group.member("of", false);
    const JsonValue* source = group.member("source", false);
    if (of == nullptr) {
      if (source != nullptr) {
        group.complain("P006", "", R"("source" says where another GPU's shares are from, and "of" is missing)",
                       R"(write "of": "a100-80", or a source beside each value)");
      }
      return;
    }
    const Hardware* other = of->kind == JsonValue::Kind::kString ? find_hardware(of->text) : nullptr;
    if (other == nullptr) {
      const std::string meant = closest_name(of->text, hardware_names());
      group.complain("P012", "of", describe(*of) + " is no hardware whose shares are known",
                     meant.empty() ? "`debubble list hardware` shows all" : "did you mean " + meant + "?");
    }
    const HardwareSource said = take_source(group);
    if (other == nullptr) return;
    const Efficiency before = figures_.shares;
    figures_.shares = usual_efficiency(*other);
    figures_.shares.compute_scale = before.compute_scale;
    own_->shares_of = other->name;
    for (const HardwareField& field : hardware_fields()) {
      if (std::string_view(field.group) == "shares") own_->sources[field.name()] = said;
    }
  }

  // {"of": "h100", "source": ...} or {"file": "my.kernels.csv", "source": ...}.
  void take_kernels(JsonObjectReader& reader) {
    const JsonValue* value = reader.member("kernels", false);
    if (value == nullptr) return;
    JsonObjectReader kernels(*value, reader.pointer_to("kernels"), problems_);
    if (!kernels.is_object()) return;
    const std::string of = kernels.optional_text("of");
    const std::string file = kernels.optional_text("file");
    own_->sources["kernels/of"] = take_source(kernels);
    kernels.finish();
    if (of.empty() == file.empty()) {
      return kernels.complain("P012", "", "measured kernels are either of a GPU or in a file",
                              R"(write "of": "h100", or "file": "my.kernels.csv")");
    }
    if (!of.empty()) return take_kernels_of(kernels, of);
    take_kernel_file(kernels, file);
    if (own_->tables != nullptr) need_half_peak(kernels, "file");
  }

  void need_half_peak(JsonObjectReader& kernels, const char* key) {
    if (figures_.hardware.half_flops > 0) return;
    kernels.complain("P006", key, "the table has products in bf16, and the hardware no peak of them",
                     R"(add "bf16" to "peak_tflops": long products are bounded by it)");
  }

  void take_kernels_of(JsonObjectReader& kernels, const std::string& of) {
    const std::vector<std::string> names = table_names();
    if (std::find(names.begin(), names.end(), of) == names.end()) {
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      return kernels.complain("P012", "of", "there is no table of kernels of " + in_quotes(of), "known: " + all);
    }
    figures_.hardware.kernels = of;
    need_half_peak(kernels, "of");
  }

  void take_kernel_file(JsonObjectReader& kernels, const std::string& file) {
    if (file.find('/') != std::string::npos || file == "." || file == "..") {
      return kernels.complain("P012", "file", in_quotes(file) + " does not lie beside this file",
                              "name a file of the same folder, without its path");
    }
    try {
      own_->tables = beside_(file);
    } catch (const InputError& error) {
      for (const Diagnostic& one : error.diagnostics()) {
        const bool unread = one.code == "C005" || one.code == "P017";
        problems_.add(one.code, unread ? problems_.name() + "#/kernels/file" : one.place, one.message, one.help);
      }
      return;
    }
    own_->tables_file = file;
    if (own_->tables->hardware == figures_.hardware.name) return;
    kernels.complain("P012", "file",
                     file + " was measured on " + in_quotes(own_->tables->hardware) + ", and this is " +
                         in_quotes(figures_.hardware.name),
                     "write the line hardware," + figures_.hardware.name + " there, if its kernels hold here");
  }

  std::string_view text_;
  const TableBeside& beside_;
  ProblemList problems_;
  HardwareFigures figures_;
  std::shared_ptr<OwnHardware> own_ = std::make_shared<OwnHardware>();
};

}  // namespace

bool is_hardware_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestHardwareName && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

bool is_hardware_file(std::string_view name) {
  return name.ends_with(".json") || name.find('/') != std::string_view::npos;
}

Hardware read_hardware(std::string_view text, const std::string& name, const TableBeside& beside) {
  return HardwareReader(text, name, beside).read();
}

Hardware read_hardware_file(const std::string& path, const std::string& place) {
  const auto beside = [&](const std::string& file) {
    const std::string table = (std::filesystem::path(path).parent_path() / file).string();
    return std::make_shared<const KernelTables>(read_kernels(read_file(table, place), table));
  };
  return read_hardware(read_file(path, place, kMostHardwareBytes), path, beside);
}

std::shared_ptr<const Hardware> hardware_named(const std::string& name, const std::string& place) {
  if (const Hardware* preset = find_hardware(name)) return {std::shared_ptr<const Hardware>(), preset};
  if (is_hardware_file(name)) return std::make_shared<const Hardware>(read_hardware_file(name, place));
  const std::vector<std::string> names = hardware_names();
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  const std::string meant = closest_name(name, names);
  throw InputError(Diagnostic{"C003", place, "no hardware is named \"" + name + "\"",
                              meant.empty() ? "known: " + all : "did you mean " + meant + "? known: " + all});
}

}  // namespace debubble
