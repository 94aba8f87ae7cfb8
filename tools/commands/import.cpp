#include "tools/commands/import.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "formats/files/output_file.hpp"
#include "formats/files/read_file.hpp"
#include "formats/importers/pipedream.hpp"
#include "formats/profile/profile_json.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/commands/import_megatron.hpp"
#include "tools/commands/import_trace.hpp"

namespace debubble {

namespace {

constexpr std::array kTraces{"kineto", "nsys", "records"};

class Import : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    verb.add_option("FILE", flags_.files, "what the tool wrote; traces: one per rank")
        ->required()
        ->type_name("")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb.add_option("--from", flags_.from, "kineto, nsys, records, pipedream, megatron")->required()->type_name("TOOL");
    add_attribution_flags(verb, flags_.attribution);
    add_model_flags(verb, flags_.model);
    add_output_flags(verb, flags_.output, "text|json");
    verb.get_option("--format")->description("of what --explain shows (default: text)");
    output_ = verb.get_option("--output");
  }

  int run(const Invocation&) override {
    if (std::find(kTraces.begin(), kTraces.end(), flags_.from) != kTraces.end()) {
      flags_.output_given = output_->count() > 0;
      return import_traces(flags_);
    }
    if (flags_.from != "pipedream" && flags_.from != "megatron") {
      throw InputError(Diagnostic{"C003", "--from", "\"" + flags_.from + "\" is not a tool debubble can import from",
                                  "known tools: kineto, nsys, records, pipedream, megatron"});
    }
    const bool megatron = flags_.from == "megatron";
    refuse_trace_flags(megatron ? "a Megatron script" : "a PipeDream graph",
                       megatron ? "a Megatron script" : "a PipeDream profile");
    if (megatron) return import_megatron(flags_.files.front(), flags_.output.output);
    return import_graph();
  }

 private:
  // A graph has its times already, a script has none: nothing to attribute.
  void refuse_trace_flags(const std::string& what, const std::string& file) const {
    const AttributionFlags& attribution = flags_.attribution;
    const ModelFlags& model = flags_.model;
    const char* flag = nullptr;
    if (!attribution.layers.empty()) flag = "--layers";
    if (!attribution.steps.empty()) flag = "--steps";
    if (attribution.warm_up) flag = "--warm-up";
    if (attribution.explain) flag = "--explain";
    if (!model.model.empty()) flag = "--model";
    if (!model.dtype.empty()) flag = "--dtype";
    if (model.microbatch) flag = "--microbatch";
    if (model.sequence) flag = "--seq";
    if (!model.hooks.empty()) flag = "--hooks";
    if (flag == nullptr && flags_.files.size() == 1) return;
    throw InputError(Diagnostic{"C087", flag == nullptr ? "FILE" : flag,
                                flag == nullptr ? file + " is one file; got " + std::to_string(flags_.files.size())
                                                : "means nothing for " + what,
                                flag == nullptr ? "import them one by one" : std::string("leave ") + flag + " out"});
  }

  int import_graph() {
    const std::string& file = flags_.files.front();
    const PipedreamImport imported = import_pipedream(read_file(file, "FILE"), file);
    OutputFile output(flags_.output.output);
    output.write(write_profile(imported.profile));
    output.commit();
    for (const std::string& note : imported.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
    std::fprintf(stderr, "%s: nodes in file / nodes placed: %d / %d, in %zu layers\n", imported.profile.model.c_str(),
                 imported.nodes_in_file, imported.nodes_placed, imported.profile.layers.size());
    if (flags_.output.output != "-") {
      std::fprintf(stderr, "next: debubble compare --profile %s -p 4 -m 8\n", flags_.output.output.c_str());
    }
    return kExitOk;
  }

  TraceImportFlags flags_;
  const CLI::Option* output_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_import() { return std::make_unique<Import>(); }

}  // namespace debubble
