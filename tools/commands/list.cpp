#include "tools/commands/command.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "formats/json/json.hpp"
#include "formats/text/printable.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/model_choice.hpp"
#include "schedules/catalog.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/suggest.hpp"
#include "sim/topologies/catalog.hpp"
#include "studies/planners/catalog.hpp"
#include "tools/catalog/schedule_page.hpp"
#include "tools/commands/command_list.hpp"
#include "tools/explain/error_codes.hpp"
#include "tools/explain/reference_pages.hpp"
#include "tools/explain/terms.hpp"
#include "tools/output/output.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/catalog_facts.hpp"
#include "tools/views/hardware_view.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/planner_facts.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

constexpr std::string_view kListFormats = "text|json|markdown";

struct ListItem {
  std::string name;
  std::string summary;
};

const std::vector<ListItem>& cost_models() {
  static const std::vector<ListItem> items{
      {"uniform", "every stage alike: --times f=1,i=1,w=1, 1 MiB of activations per device share (the default)"},
      {"profiled", "measured or published layer times: --profile FILE, cut by --partition"},
      {"transformer", "layer times modelled from sizes: --model NAME --hardware NAME, cut by --partition"}};
  return items;
}

std::string model_sizes_text(const TransformerShape& shape) {
  std::string text = std::to_string(shape.layers) + " layers of " + std::to_string(shape.hidden) + ", " +
                     std::to_string(shape.heads) + " heads";
  if (shape.kv_heads != shape.heads) text += " (" + std::to_string(shape.kv_heads) + " of keys and values)";
  text += ", feed-forward " + std::to_string(shape.feed_forward) + ", vocabulary " + std::to_string(shape.vocabulary);
  if (shape.experts > 0) {
    text += ", " + std::to_string(shape.experts_per_token) + " of " + std::to_string(shape.experts) + " experts of " +
            std::to_string(shape.expert_feed_forward);
  }
  if (shape.kv_rank > 0) text += ", latent attention of rank " + std::to_string(shape.kv_rank);
  return text;
}

// Every size that the cost model has of a file's model, and how many numbers it trains.
std::string model_file_text(const std::string& file, const ViewStyle& style) {
  const ChosenModel model = choose_model(file, "");
  const TransformerShape& shape = model.shape;
  const std::int64_t predictors = model_parameters(shape) - main_parameters(shape);
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  table.add_row({"model", printable(file)});
  table.add_row({"sizes", model_sizes_text(shape)});
  table.add_row({"parameters", std::to_string(main_parameters(shape))});
  if (predictors > 0) {
    table.add_row({"in predictors", std::to_string(predictors) + ", which share embedding and output layer"});
  }
  for (const std::string& note : model.notes) table.add_row({"left out", note});
  return table.text(static_cast<std::size_t>(style.width));
}

std::string model_file_json(const std::string& file) {
  const ChosenModel model = choose_model(file, "");
  const std::int64_t main = main_parameters(model.shape);
  const Json one{{"name", file},
                 {"summary", model_sizes_text(model.shape)},
                 {"parameters", main},
                 {"predictor_parameters", model_parameters(model.shape) - main},
                 {"left_out", model.notes}};
  Json list = Json::array();
  list.push_back(one);
  return Json{{"schema_version", 1}, {"models", list}}.text(2) + "\n";
}

std::vector<ListItem> models() {
  std::vector<ListItem> items;
  for (const NamedModel& model : all_models()) {
    items.push_back({model.shape.name, model_sizes_text(model.shape) + "; " + model.source});
  }
  return items;
}

Json schedule_entry_json(const ScheduleEntry& entry) {
  return {{"name", entry.name},
          {"summary", entry.summary},
          {"citation", entry.citation},
          {"constraints", entry.constraints},
          {"needs", entry.needs},
          {"splits_backward", entry.splits_backward},
          {"default_chunks", entry.default_chunks},
          {"params", params_json(entry.params)},
          {"family", to_string(entry.family)},
          {"certainty", to_string(entry.certainty)},
          {"certainty_note", entry.certainty_note},
          {"makespan", entry.makespan.text.empty() ? Json(nullptr) : Json(entry.makespan.text)},
          {"peak_activations", entry.peak.text.empty() ? Json(nullptr) : Json(entry.peak.text)},
          {"frameworks", entry.frameworks},
          {"advice", entry.advice},
          {"uses_costs", entry.uses_costs},
          {"even_devices", entry.even_devices}};
}

std::string hardware_list_json() {
  Json list = json_list(hardware_presets(), hardware_json);
  return Json{{"schema_version", 1}, {"hardware", list}}.text(2) + "\n";
}

std::vector<ListItem> command_items() {
  std::vector<ListItem> items;
  for (const CommandEntry& entry : command_catalog()) items.push_back({entry.name, entry.summary});
  return items;
}

const std::vector<ListItem>& completion_items() {
  static const std::vector<ListItem> items{{"bash", "source <(debubble list completions bash)"},
                                           {"fish", "debubble list completions fish | source"},
                                           {"zsh", "source <(debubble list completions zsh)"}};
  return items;
}

std::vector<ListItem> man_page_items() {
  std::vector<ListItem> items{{"debubble", "the verbs, exit statuses, environment and files"}};
  for (const CommandEntry& entry : command_catalog()) items.push_back({"debubble-" + entry.name, entry.summary});
  return items;
}

std::vector<ListItem> codes() {
  std::vector<ListItem> items;
  for (const ErrorCode& code : error_codes()) items.push_back({code.code, code.meaning});
  return items;
}

std::vector<ListItem> word_items() {
  std::vector<ListItem> items;
  for (const Term& term : terms()) {
    items.push_back({term.name, term.meaning.substr(0, term.meaning.find(". "))});
  }
  return items;
}

std::string words_json() {
  Json list = json_list(terms(), [](const Term& term) -> Json {
    return {{"name", term.name},
            {"summary", term.meaning},
            {"aliases", aliases_of(term)},
            {"formula", term.formula.empty() ? Json(nullptr) : Json(term.formula)},
            {"see", term.see.empty() ? Json(nullptr) : Json(term.see)}};
  });
  return Json{{"schema_version", 1}, {"words", list}}.text(2) + "\n";
}

Json code_json(const ErrorCode& code) {
  return {{"name", code.code}, {"family", code.family}, {"meaning", code.meaning}, {"remedy", code.remedy}};
}

std::vector<ListItem> family_items(const std::string& family) {
  if (family == "error-codes") return codes();
  if (family == "commands") return command_items();
  if (family == "completions") return completion_items();
  if (family == "man-pages") return man_page_items();
  if (family == "models") return models();
  if (family == "words") return word_items();
  return cost_models();
}

std::string list_items_text(const std::vector<ListItem>& items, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const ListItem& item : items) table.add_row({item.name, item.summary});
  return table.text(static_cast<std::size_t>(style.width));
}

std::string items_json(const std::string& family, const std::vector<ListItem>& items) {
  Json list = json_list(items, [](const ListItem& item) -> Json {
    return {{"name", item.name}, {"summary", item.summary}};
  });
  return Json{{"schema_version", 1}, {family, list}}.text(2) + "\n";
}

class List : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("FAMILY", "schedules (default), transforms, models, ...", &family_, Preset{"schedules"}),
        row("NAME", "only the entry of that name, or of a config.json", &name_),
    };
    add_rows(rows, flag_rows(output_, kListFormats));
    return rows;
  }

  int run(const Invocation&) override {
    const std::array<std::string, 12> families{"schedules",   "transforms", "planners",    "topologies",
                                               "cost-models", "models",     "hardware",    "words",
                                               "error-codes", "commands",   "completions", "man-pages"};
    if (std::find(families.begin(), families.end(), family_) == families.end()) {
      const std::string guess = closest_name(family_, families);
      throw InputError(Diagnostic{"C003", "list", "there is no list of \"" + family_ + "\"",
                                  guess.empty()
                                      ? "known lists: schedules, transforms, planners, topologies, cost-models, "
                                        "models, hardware, words, error-codes, commands, completions, man-pages"
                                      : "did you mean " + guess + "?"});
    }
    Output output(output_, kListFormats);
    const bool json = output.format() == Format::kJson;
    const bool page = family_ == "schedules" || family_ == "planners" || family_ == "error-codes";
    if (output.format() == Format::kMarkdown && (!page || !name_.empty())) {
      throw InputError(Diagnostic{"C002", "--format",
                                  "only the whole list of schedules, of planners or of error-codes is made as markdown",
                                  "write --format text or --format json"});
    }
    if (family_ == "models" && names_model_file(name_)) {
      output.write(json ? model_file_json(name_) : model_file_text(name_, output.style()));
    } else if (!name_.empty()) {
      check_name();
      output.write(json ? one_json() : one_text(output.style()));
    } else if (json) {
      output.write(all_json());
    } else if (output.format() == Format::kMarkdown) {
      output.write(family_ == "schedules" ? schedule_page() : family_ == "planners" ? planner_page() : error_page());
    } else if (family_ == "schedules") {
      output.write(schedules_text(output.style()));
    } else if (family_ == "transforms") {
      output.write(transforms_text(output.style()));
    } else if (family_ == "planners") {
      output.write(planners_text(output.style()));
    } else if (family_ == "topologies") {
      output.write(topologies_text(output.style()));
    } else if (family_ == "hardware") {
      output.write(hardware_list_text(output.style()));
    } else {
      output.write(list_items_text(family_items(family_), output.style()));
    }
    output.commit();
    return kExitOk;
  }

 private:
  // The name of the list in JSON.
  [[nodiscard]] std::string key() const {
    std::string key = family_;
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
  }

  [[nodiscard]] std::string all_json() const {
    if (family_ == "schedules") return schedules_json();
    if (family_ == "transforms") return transforms_json();
    if (family_ == "planners") return planners_json();
    if (family_ == "topologies") return topologies_json();
    if (family_ == "error-codes") return codes_json();
    if (family_ == "words") return words_json();
    if (family_ == "hardware") return hardware_list_json();
    return family_ == "commands" ? commands_json() : items_json(key(), family_items(family_));
  }

  // A topology may be written as for --topology: "dgx-h100:8".
  void check_name() {
    if (family_ == "topologies") name_ = name_.substr(0, name_.find(':'));
    if (const Term* term = family_ == "words" ? find_term(name_) : nullptr) name_ = term->name;
    std::vector<std::string> names;
    const Json all = Json::parse(all_json());
    for (const Json& one : all[key()]) names.push_back(one["name"].string());
    if (std::find(names.begin(), names.end(), name_) != names.end()) return;
    const std::string guess = closest_name(name_, names);
    throw InputError(Diagnostic{
        "C003", "list", "there is no \"" + name_ + "\" in the list of " + family_,
        guess.empty() ? "`debubble list " + family_ + "` shows all of them" : "did you mean " + guess + "?"});
  }

  [[nodiscard]] std::string one_json() const {
    Json list = Json::parse(all_json());
    Json one = Json::array();
    for (const Json& item : list[key()]) {
      if (item["name"] == name_) one.push_back(item);
    }
    list[key()] = one;
    return list.text(2) + "\n";
  }

  [[nodiscard]] std::string one_text(const ViewStyle& style) const {
    if (family_ == "schedules") return schedule_facts_text(*find_schedule(name_), style);
    if (family_ == "planners") return planner_text(*find_planner(name_), style);
    if (family_ == "transforms") return transform_text(*find_transform(name_), style);
    if (family_ == "topologies") return topology_text(name_, style);
    if (family_ == "hardware") {
      const Json one = hardware_json(*find_hardware(name_));
      return list_items_text({{name_, one["summary"].string()}}, style);
    }
    if (family_ == "error-codes") return error_code_text(*find_error_code(name_), style);
    if (family_ == "words") return term_text(*find_term(name_), style);
    if (family_ == "completions") return shell_completions(name_);
    if (family_ == "man-pages") return manual_page(name_);
    std::vector<ListItem> items = family_items(family_);
    std::erase_if(items, [&](const ListItem& item) { return item.name != name_; });
    return list_items_text(items, style);
  }

  static std::string schedules_text(const ViewStyle& style) {
    const auto width = static_cast<std::size_t>(style.width);
    std::size_t longest = 0;
    for (const ScheduleEntry& entry : schedule_catalog()) longest = std::max(longest, columns_of(entry.name));
    std::string text;
    for (const ScheduleEntry& entry : schedule_catalog()) {
      const std::string name = pad_right(entry.name, longest + 2);
      text += paint(style.color, kBold, name) +
              shorten(entry.summary.substr(0, entry.summary.find("; ")), width - columns_of(name)) + "\n";
    }
    return text + "\n" +
           paragraph(
               "debubble explain schedule NAME shows the rest: legal sizes, formulas, memory, who runs it, its chart.",
               style);
  }

  static std::string schedules_json() {
    Json list = json_list(schedule_catalog(), schedule_entry_json);
    return Json{{"schema_version", 1}, {"schedules", list}}.text(2) + "\n";
  }

  static std::string codes_json() {
    Json list = json_list(error_codes(), code_json);
    return Json{{"schema_version", 1}, {"error_codes", list}}.text(2) + "\n";
  }

  std::string family_ = "schedules";
  std::string name_;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace debubble
