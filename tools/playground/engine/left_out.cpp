// What a browser has no library or no file for. Whoever asks for it is told.
#include <zlib.h>

#include <cstdio>
#include <optional>

#include "gpu/cuda_library.hpp"
#include "live/backends.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/open_run.hpp"

namespace debubble {
namespace {

[[noreturn]] void refuse_compression() {
  throw UnavailableError({"U040", "", "the playground neither reads nor writes compressed files",
                          "leave out the .gz, or use the command on a machine of yours"});
}

}  // namespace

RunRecord open_run(const std::vector<std::string>& files, const RunRecord* /*schedule_of*/,
                   const ScenarioFileReader& /*read_scenario*/, Progress& /*progress*/,
                   const RunReaderOptions& /*options*/) {
  throw UnavailableError({"U040", files.empty() ? "" : files.front(), "the playground reads no recorded runs",
                          "use the command on a machine of yours"});
}

// PDF and PNG are drawn by a library that is loaded.
CudaLibrary CudaLibrary::find(const LibrarySearch& /*search*/) {
  CudaLibrary none;
  none.problem_ = "a page can load no library";
  return none;
}
void* CudaLibrary::symbol(const char* /*name*/) const { return nullptr; }

namespace live {
std::optional<int> mpi_rank_of_environment() { return std::nullopt; }
}  // namespace live

}  // namespace debubble

// zlib's names and types.
extern "C" {
int deflateInit2_(z_streamp, int, int, int, int, int, const char*, int) { debubble::refuse_compression(); }
int deflate(z_streamp, int) { debubble::refuse_compression(); }
int deflateEnd(z_streamp) { return Z_OK; }
int inflateInit2_(z_streamp, int, const char*, int) { debubble::refuse_compression(); }
int inflate(z_streamp, int) { debubble::refuse_compression(); }
int inflateReset(z_streamp) { debubble::refuse_compression(); }
int inflateEnd(z_streamp) { return Z_OK; }
// Of files that are not compressed zlib gives the bytes as they are; of others the page gives those, too.
gzFile gzopen(const char* path, const char* mode) { return reinterpret_cast<gzFile>(std::fopen(path, mode)); }
int gzread(gzFile file, voidp to, unsigned count) {
  return static_cast<int>(std::fread(to, 1, count, reinterpret_cast<std::FILE*>(file)));
}
int gzclose(gzFile file) { return std::fclose(reinterpret_cast<std::FILE*>(file)); }
}
