// Both runs of a diff for trace viewers: one merged Chrome trace, or a bundle of two for Perfetto.
//
// The bundle is a tar archive that ui.perfetto.dev opens as a whole: manifest.json, whose text begins with
// {"perfetto_manifest", names the two traces predicted.json.gz and measured.json.gz, each a machine of its own, both
// beginning at 0. Same diff, same bytes.
#pragma once

#include <string>

#include "formats/files/text_sink.hpp"
#include "studies/diff/diff.hpp"

namespace debubble {

void write_merged_trace(const Diff& diff, const std::string& command_line, bool perfetto, const TextSink& sink);

[[nodiscard]] std::string trace_bundle(const Diff& diff, const std::string& command_line);

}  // namespace debubble
