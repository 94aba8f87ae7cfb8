// GpuParts: the virtual devices. Either parts of one GPU, as green contexts that come from one split (separate splits
// may overlap), or one whole GPU each.
//
//     132 processors, 4 devices    | 32 | 32 | 32 | 32 | 4 |      the rest carries the transfers, where it can
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/cuda_device.hpp"
#include "gpu/owned_handle.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

struct GpuPart {
  cuda::Context context = nullptr;     // to be entered before anything is issued
  cuda::GreenContext green = nullptr;  // nullptr: a whole GPU
  int gpu = 0;                         // place among the GPUs in use
  std::int32_t processors = 0;         // as the driver read them back
};

// How finely a GPU can be cut.
struct Granularity {
  unsigned least;  // processors of a part
  unsigned step;   // their number is a multiple of it
};

class GpuParts {
 public:
  // `count` equal parts of one GPU. Throws UnavailableError U060 (a driver without green contexts, or a GPU
  // that cannot be cut into so many parts), U021, U027.
  [[nodiscard]] static std::unique_ptr<GpuParts> split(std::shared_ptr<const CudaLibraries> libraries, int gpu,
                                                       int count);
  // Whole GPUs, by number. Throws UnavailableError U060 (also for two that cannot reach each other's memory), U021.
  [[nodiscard]] static std::unique_ptr<GpuParts> whole(std::shared_ptr<const CudaLibraries> libraries,
                                                       const std::vector<int>& gpus);
  ~GpuParts();
  GpuParts(const GpuParts&) = delete;
  GpuParts& operator=(const GpuParts&) = delete;

  [[nodiscard]] const CudaLibraries& libraries() const { return *libraries_; }
  [[nodiscard]] const std::vector<GpuPart>& parts() const { return parts_; }
  [[nodiscard]] const DeviceFacts& facts(const GpuPart& part) const { return at(facts_, part.gpu); }
  // What tells this GPU, or this instance of a GPU in MIG mode, from all others in the world.
  [[nodiscard]] std::string uuid(const GpuPart& part) const;
  // Where transfers that leave this part run: the processors that no part has, so that a copy, or the stamp next to it,
  // never waits for a free place among the part's own blocks; the part itself where nothing is left over.
  [[nodiscard]] const GpuPart& transfer_part(const GpuPart& part) const { return rest_ ? *rest_ : part; }
  // The GPU's own context, for what belongs to no part.
  [[nodiscard]] GpuPart primary(int gpu) const;

  void enter(const GpuPart& part) const;
  // `urgent`: its blocks go before those of other streams.
  [[nodiscard]] OwnedHandle<cuda::Stream> make_stream(const GpuPart& part, bool urgent) const;
  // An event may only be recorded on streams of the part it was made for; anybody may wait for it.
  [[nodiscard]] OwnedHandle<cuda::Event> make_event(const GpuPart& part) const;
  [[nodiscard]] std::vector<std::string> notes() const;  // sizes, to display

 private:
  explicit GpuParts(std::shared_ptr<const CudaLibraries> libraries) : libraries_(std::move(libraries)) {}

  void open(int gpu);
  [[nodiscard]] cuda::ProcessorResource whole_gpu() const;
  [[nodiscard]] Granularity granularity_of(const cuda::ProcessorResource& whole);
  void cut(int count);
  [[nodiscard]] std::vector<cuda::ProcessorResource> split_equally(const cuda::ProcessorResource& whole, int count,
                                                                   Granularity granularity,
                                                                   cuda::ProcessorResource& rest);
  void connect() const;
  GpuPart make_part(cuda::ProcessorResource resource);
  void check(cuda::Result result, const std::string& what) const;

  std::shared_ptr<const CudaLibraries> libraries_;
  std::vector<std::unique_ptr<CudaContext>> contexts_;  // by GPU
  std::vector<DeviceFacts> facts_;
  std::vector<OwnedHandle<cuda::GreenContext>> greens_;
  std::vector<GpuPart> parts_;
  std::optional<GpuPart> rest_;
  std::vector<std::string> split_notes_;  // what is not as usual
  mutable std::map<int, int> streams_;    // made on each GPU
};

// When CUDA loads a kernel. Lazily, at its first launch, which may wait for all that was launched before; eagerly, all
// of a library's, which takes seconds for cuBLASLt.
enum class KernelLoading : std::uint8_t { kLazy, kEager };

// Environment that CUDA reads when it starts; variables that are set already stay. Before the first CUDA call. Asks for
// as many hardware queues as there can be, so that streams do not wait behind another's work.
void prepare_cuda_environment(KernelLoading loading);

}  // namespace debubble::live
