#include "profiler/hooks_file.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"

namespace debubble {
namespace {

constexpr std::string_view kHooksSchema = "debubble.hooks/1";
constexpr std::int64_t kMostInHooks = std::numeric_limits<std::int64_t>::max();
constexpr const char* kWritten = "debubble_hooks writes this file; do not edit it";
constexpr IntegerRule kHooksSize{"bytes", 0, kLargestSize, kWritten};
constexpr IntegerRule kHooksCount{"items", 0, kMostInHooks, kWritten};
constexpr IntegerRule kHooksSamples{"samples", 1, kMostInHooks, "null means an unknown size"};

// The faults that the strict JSON reader finds. Its help tells how to edit a file, and nobody edits this one.
constexpr std::array<std::string_view, 9> kJsonFaults{"P001", "P002", "P003", "P004", "P005",
                                                      "P006", "P007", "P018", "P019"};

[[noreturn]] void throw_as_ours(std::vector<Diagnostic> problems) {
  for (Diagnostic& problem : problems) {
    if (std::find(kJsonFaults.begin(), kJsonFaults.end(), problem.code) != kJsonFaults.end()) problem.help = kWritten;
  }
  throw InputError(std::move(problems));
}

std::optional<Bytes> size_or_null(JsonObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.member(key, true);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return std::nullopt;
  return reader.optional_integer(key, kHooksSize);
}

void read_hooks_layer(const JsonValue& value, std::string pointer, HooksFile& file, ProblemList& problems) {
  JsonObjectReader reader(value, std::move(pointer), problems);
  if (!reader.is_object()) return;
  const std::string name = reader.text("name");
  LayerFacts facts;
  facts.kind = reader.optional_text("kind");
  facts.activation = reader.integer("activation_bytes", kHooksSize);
  facts.weight_grad_held = size_or_null(reader, "weight_grad_held_bytes");
  facts.output = reader.integer("output_bytes", kHooksSize);
  facts.parameters = reader.integer("parameter_bytes", kHooksSize);
  facts.workspace = reader.integer("workspace_bytes", kHooksSize);
  static_cast<void>(reader.integer("weight_input_bytes", kHooksSize));     // the parts of weight_grad_held_bytes,
  static_cast<void>(reader.integer("weight_gradient_bytes", kHooksSize));  // to display
  static_cast<void>(reader.flag("checkpointed", kWritten));
  reader.finish();
  if (facts.weight_grad_held.value_or(0) > facts.activation) {
    reader.complain("P012", "weight_grad_held_bytes",
                    "more is held for the weight gradient than for the whole backward", kWritten);
  }
  if (!file.layers.emplace(name, facts).second) {
    reader.complain("G004", "name", "the layer " + in_quotes(name) + " appears twice", kWritten);
  }
}

void read_notes(JsonObjectReader& top, HooksFile& file) {
  const JsonValue* notes = top.array("notes");
  if (notes == nullptr) return;
  for (const JsonValue& note : notes->children) {
    if (note.kind == JsonValue::Kind::kString) {
      file.notes.push_back(note.text);
    } else {
      top.complain("P007", "notes", "notes are strings; got " + describe(note), kWritten);
    }
  }
}

bool has_hooks_schema(JsonObjectReader& top) {
  return top.has_format("schema", kHooksSchema,
                        "debubble and its debubble_hooks must be of one version: check PYTHONPATH for another copy");
}

HooksFile read_hooks_top(JsonObjectReader& top, ProblemList& problems) {
  HooksFile file;
  static_cast<void>(top.integer("schema_version", kHooksCount));
  file.complete = top.flag("complete", kWritten);
  file.rank = top.integer("rank", kHooksCount);
  static_cast<void>(top.integer("pid", kHooksCount));
  file.torch = top.optional_text("torch");
  file.model = top.optional_text("model");
  file.dtype = top.optional_text("dtype");
  file.microbatch_size = top.integer_or_null("microbatch_size", kHooksSamples);
  file.sequence_length = top.integer_or_null("sequence_length", kHooksSamples);
  static_cast<void>(top.array("input_shapes"));
  file.steps = top.integer("steps", kHooksCount);
  static_cast<void>(top.integer("outside_bytes", kHooksSize));
  if (const JsonValue* layers = top.array("layers")) {
    std::size_t index = 0;
    for (const JsonValue& layer : layers->children) {
      read_hooks_layer(layer, top.pointer_to("layers/" + std::to_string(index++)), file, problems);
    }
  }
  read_notes(top, file);
  top.finish();
  return file;
}

}  // namespace

HooksFile read_hooks_file(std::string_view text, const std::string& name) {
  ProblemList problems(name);
  HooksFile file;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    JsonObjectReader top(*root, "", problems);
    if (has_hooks_schema(top)) file = read_hooks_top(top, problems);
  }
  try {
    problems.throw_if_any();
  } catch (const InputError& error) {
    throw_as_ours(error.diagnostics());
  }
  return file;
}

std::map<std::string, LayerFacts> merged_facts(const std::vector<HooksFile>& files) {
  std::map<std::string, LayerFacts> merged;
  for (const HooksFile& file : files) {
    for (const auto& [name, facts] : file.layers) {
      const auto [place, fresh] = merged.emplace(name, facts);
      if (fresh) continue;
      LayerFacts& known = place->second;
      known.activation = std::max(known.activation, facts.activation);
      known.output = std::max(known.output, facts.output);
      known.parameters = std::max(known.parameters, facts.parameters);
      known.workspace = std::max(known.workspace, facts.workspace);
      // Of a layer that one rank checkpoints nothing is said about what the weight gradient needs.
      if (!known.weight_grad_held || !facts.weight_grad_held) {
        known.weight_grad_held.reset();
      } else {
        known.weight_grad_held = std::max(*known.weight_grad_held, *facts.weight_grad_held);
      }
    }
  }
  return merged;
}

}  // namespace debubble
