#include "tools/commands/import.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "profiler/importers/pipedream.hpp"
#include "profiler/profile_json.hpp"
#include "sim/core/error.hpp"
#include "tools/exit_status.hpp"
#include "tools/exporters/output_file.hpp"
#include "tools/scenario.hpp"

namespace debubble {

namespace {

class Import : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    verb.add_option("file", file_, "what the other tool wrote")->required()->type_name("FILE");
    verb.add_option("--from", from_, "pipedream: graph.txt of its profiler")->required()->type_name("TOOL");
    verb.add_option("-o,--output", output_, "where to (default: -, stdout)")->type_name("FILE");
  }

  int run(const Invocation&) override {
    if (from_ != "pipedream") {
      throw InputError(Diagnostic{"C062", "--from", "\"" + from_ + "\" is not a tool debubble can import from",
                                  "known tools: pipedream"});
    }
    const PipedreamImport imported = import_pipedream(read_file(file_, "FILE"), file_);
    OutputFile output(output_);
    output.write(write_profile(imported.profile));
    output.commit();
    for (const std::string& note : imported.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
    std::fprintf(stderr, "%s: nodes in file / nodes placed: %d / %d, in %zu layers\n", imported.profile.model.c_str(),
                 imported.nodes_in_file, imported.nodes_placed, imported.profile.layers.size());
    if (output_ != "-") {
      std::fprintf(stderr, "next: debubble compare --profile %s -p 4 -m 8\n", output_.c_str());
    }
    return kExitOk;
  }

 private:
  std::string file_;
  std::string from_;
  std::string output_ = "-";
};

}  // namespace

std::unique_ptr<Command> make_import() { return std::make_unique<Import>(); }

}  // namespace debubble
