// The catalog of run readers: pipeline runs as other tools recorded them, each reader in a file of its own.
//
//     name        written by                         files
//     torch       torch.profiler, without PP:       a trace of every rank                         run_reader.cpp
//     nsys        Nsight Systems                    an export of every rank, or one of all        run_reader.cpp
//
// torch.profiler's traces with PP: ranges, one per rank, are read by kineto_run.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/importers/imported_run.hpp"

namespace debubble {

struct RunText {
  std::string file;
  std::string text;  // out of gzip
};

struct RunReaderOptions {
  int replica = 0;  // which of several data-parallel pipelines, counted from 0
};

struct RunReader {
  std::string_view name;
  std::string_view written_by;
  bool (*recognises)(std::string_view text);  // by its content
  ImportedRun (*read)(std::vector<RunText> files, const RunReaderOptions& options);
};

[[nodiscard]] std::span<const RunReader> run_readers();

// The reader whose files look like this one; null for none.
[[nodiscard]] const RunReader* reader_of(std::string_view text);

}  // namespace debubble
