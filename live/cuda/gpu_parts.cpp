#include "live/cuda/gpu_parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {
namespace {

void require_live_functions(const CudaDriver& driver) {
  if (driver.missing_for_live.empty()) return;
  throw UnavailableError({"U060", driver.library, "this CUDA driver lacks " + driver.missing_for_live,
                          "live execution needs the driver of CUDA 12.5 (555) or newer; profiling does not"});
}

[[noreturn]] void throw_not_split(const DeviceFacts& facts, int asked, unsigned got, const std::string& why) {
  throw UnavailableError({"U060", facts.name,
                          "this GPU of " + std::to_string(facts.processors) + " processors cannot be cut into " +
                              std::to_string(asked) + " parts: " + why,
                          got > 0 ? "fewer devices would do: -p " + std::to_string(got)
                                  : "with one GPU per device nothing is cut: --gpus each"});
}

[[noreturn]] void throw_no_green(const DeviceFacts& facts, const std::string& error) {
  throw UnavailableError({"U060", facts.name, "this GPU and its driver have no green contexts: " + error,
                          "they need the driver of CUDA 12.5 (555) or newer; --gpus each does without"});
}

// CUDA Driver API, Green Contexts, "guideline for each compute architecture", from 8.0 on.
constexpr Granularity documented_granularity(int capability) {
  return capability >= 90 ? Granularity{8, 8} : Granularity{4, 2};
}

// As CUDA reads it: 8 where nobody said anything, 32 at most.
int hardware_queues() {
  const char* const set = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");  // NOLINT(concurrency-mt-unsafe)
  const int asked = set == nullptr ? 0 : std::atoi(set);               // NOLINT(cert-err34-c): 0 is the default too
  return asked <= 0 ? 8 : std::min(asked, 32);
}

std::vector<std::string> with(const std::vector<std::string>& more, std::vector<std::string> notes) {
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

}  // namespace

void prepare_cuda_environment(KernelLoading loading) {
  // NOLINTBEGIN(concurrency-mt-unsafe): before any thread of CUDA's
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  if (loading == KernelLoading::kEager) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // NOLINTEND(concurrency-mt-unsafe)
}

void GpuParts::check(cuda::Result result, const std::string& what) const {
  check_cuda(libraries_->driver, result, what);
}

void GpuParts::open(int gpu) {
  contexts_.push_back(std::make_unique<CudaContext>(libraries_->driver, gpu));
  facts_.push_back(read_device_facts(*libraries_, contexts_.back()->device()));
}

std::unique_ptr<GpuParts> GpuParts::split(std::shared_ptr<const CudaLibraries> libraries, int gpu, int count) {
  require_live_functions(libraries->driver);
  std::unique_ptr<GpuParts> made(new GpuParts(std::move(libraries)));
  made->open(gpu);
  if (count == 1) {
    made->parts_.push_back(made->primary(0));
  } else {
    made->cut(count);
  }
  return made;
}

std::unique_ptr<GpuParts> GpuParts::whole(std::shared_ptr<const CudaLibraries> libraries,
                                          const std::vector<int>& gpus) {
  require_live_functions(libraries->driver);
  std::unique_ptr<GpuParts> made(new GpuParts(std::move(libraries)));
  for (const int gpu : gpus) made->open(gpu);
  for (std::size_t k = 0; k < gpus.size(); ++k) made->parts_.push_back(made->primary(static_cast<int>(k)));
  made->connect();
  return made;
}

GpuParts::~GpuParts() {
  if (!contexts_.empty()) libraries_->driver.call.context_set(contexts_.front()->handle());
}

GpuPart GpuParts::primary(int gpu) const {
  const auto index = static_cast<std::size_t>(gpu);
  return {contexts_[index]->handle(), nullptr, gpu, facts_[index].processors};
}

std::string GpuParts::uuid(const GpuPart& part) const {
  cuda::Uuid uuid;
  check(libraries_->driver.live.device_uuid(&uuid, at(contexts_, part.gpu)->device()), "asking for a GPU's UUID");
  std::string text;
  for (const unsigned char byte : uuid.bytes) {
    if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) text += '-';  // as nvidia-smi
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

cuda::ProcessorResource GpuParts::whole_gpu() const {
  cuda::ProcessorResource whole;
  const cuda::Result asked =
      libraries_->driver.live.resource_of_device(contexts_.front()->device(), &whole, cuda::kProcessorResource);
  if (asked != cuda::kSuccess) throw_no_green(facts_.front(), cuda_error(libraries_->driver, asked));
  return whole;
}

// Drivers of CUDA 12 (555 to 575) fill neither field, so that they stay zero.
Granularity GpuParts::granularity_of(const cuda::ProcessorResource& whole) {
  const Granularity documented = documented_granularity(facts_.front().capability);
  if (whole.least_part != 0 && whole.aligned_to != 0) return {whole.least_part, whole.aligned_to};
  const Granularity taken{whole.least_part == 0 ? documented.least : whole.least_part,
                          whole.aligned_to == 0 ? documented.step : whole.aligned_to};
  split_notes_.push_back(
      "the driver does not tell how finely a GPU can be cut; by CUDA's documentation a part has at "
      "least " +
      std::to_string(taken.least) + ", in steps of " + std::to_string(taken.step));
  return taken;
}

void GpuParts::cut(int count) {
  const cuda::ProcessorResource whole = whole_gpu();
  const Granularity granularity = granularity_of(whole);
  if (whole.processors / static_cast<unsigned>(count) < granularity.least) {
    throw_not_split(facts_.front(), count, whole.processors / granularity.least,
                    "a part has at least " + std::to_string(granularity.least));
  }
  cuda::ProcessorResource rest;
  for (const cuda::ProcessorResource& group : split_equally(whole, count, granularity, rest)) {
    parts_.push_back(make_part(group));
  }
  if (rest.type == cuda::kProcessorResource && rest.processors > 0) {
    try {
      rest_ = make_part(rest);
    } catch (const UnavailableError&) {  // too few to be a part of their own: transfers run in the senders' parts
      rest_.reset();
    }
  }
}

// The driver rounds a size up; asked for a whole number of its steps, it has none to add. It may still give fewer parts
// than the processors would do for, "due to cluster requirements" (CUDA Driver API, cuDevSmResourceSplitByCount): then
// the parts become smaller.
std::vector<cuda::ProcessorResource> GpuParts::split_equally(const cuda::ProcessorResource& whole, int count,
                                                             Granularity granularity, cuda::ProcessorResource& rest) {
  const auto parts = static_cast<unsigned>(count);
  const auto [least, step] = granularity;
  const unsigned largest = std::max(least, whole.processors / parts / step * step);
  unsigned most = 0;
  for (unsigned size = largest;; size -= step) {
    std::vector<cuda::ProcessorResource> groups(parts);
    rest = {};
    unsigned got = parts;
    const cuda::Result result = libraries_->driver.live.resource_split(groups.data(), &got, &whole, &rest, 0, size);
    if (result == cuda::kInvalidResourceConfiguration) {
      got = 0;
    } else {
      check(result, "cutting the GPU into parts");
    }
    if (got >= parts && size < largest) {
      split_notes_.push_back("the driver gives too few parts of " + std::to_string(size + step) +
                             " processors or more, so they are smaller");
    }
    if (got >= parts) return groups;
    most = std::max(most, got);
    if (size < least + step) break;
  }
  throw_not_split(facts_.front(), count, most,
                  most == 0 ? "the driver refuses" : "the driver gives " + std::to_string(most));
}

GpuPart GpuParts::make_part(cuda::ProcessorResource resource) {
  const cuda::LiveFunctions& live = libraries_->driver.live;
  cuda::ResourceDescription description = nullptr;
  check(live.resource_describe(&description, &resource, 1), "describing a part of the GPU");
  GpuPart part;
  const cuda::Result made =
      live.green_create(&part.green, description, contexts_.front()->device(), cuda::kGreenDefaultStream);
  if (made == cuda::kNotSupported) throw_no_green(facts_.front(), cuda_error(libraries_->driver, made));
  check(made, "making a green context");
  greens_.emplace_back(part.green, live.green_destroy);
  check(live.green_context(&part.context, part.green), "entering a green context");
  cuda::ProcessorResource read;
  check(live.green_resource(part.green, &read, cuda::kProcessorResource), "asking for a part's processors");
  part.processors = static_cast<std::int32_t>(read.processors);
  return part;
}

void GpuParts::connect() const {
  const cuda::LiveFunctions& live = libraries_->driver.live;
  for (const GpuPart& from : parts_) {
    for (const GpuPart& to : parts_) {
      if (from.gpu == to.gpu) continue;
      int possible = 0;
      check(live.peer_possible(&possible, at(contexts_, from.gpu)->device(), at(contexts_, to.gpu)->device()),
            "asking whether GPUs reach each other");
      if (possible == 0) {
        throw UnavailableError({"U060", "",
                                "device " + std::to_string(from.gpu) + "'s GPU cannot reach the memory of device " +
                                    std::to_string(to.gpu) + "'s directly",
                                "GPUs of one NVLink or PCIe switch can (nvidia-smi topo -p2p r); CUDA_VISIBLE_DEVICES "
                                "chooses them; --backend mpi needs no peer access"});
      }
      enter(from);
      const cuda::Result enabled = live.peer_enable(to.context, 0);
      if (enabled == cuda::kTooManyPeers) {
        throw UnavailableError({"U060", "",
                                "the GPUs cannot open each other's memory: " + cuda_error(libraries_->driver, enabled),
                                "fewer GPUs (-p) need fewer connections; --backend mpi needs no peer access"});
      }
      if (enabled != cuda::kPeerAccessAlreadyEnabled) check(enabled, "opening a peer's memory");
    }
  }
}

void GpuParts::enter(const GpuPart& part) const {
  check(libraries_->driver.call.context_set(part.context), "entering a part's context");
}

OwnedHandle<cuda::Stream> GpuParts::make_stream(const GpuPart& part, bool urgent) const {
  const cuda::LiveFunctions& live = libraries_->driver.live;
  enter(part);
  int lowest = 0;
  int highest = 0;
  check(live.priority_range(&lowest, &highest), "asking for priorities");
  const int priority = urgent ? highest : lowest;
  cuda::Stream made = nullptr;
  const cuda::Result result = part.green == nullptr
                                  ? live.stream_create_urgent(&made, cuda::kStreamNonBlocking, priority)
                                  : live.green_stream(&made, part.green, cuda::kStreamNonBlocking, priority);
  check(result, "making a stream");
  ++streams_[part.gpu];
  return {made, libraries_->driver.call.stream_destroy};
}

OwnedHandle<cuda::Event> GpuParts::make_event(const GpuPart& part) const {
  enter(part);
  cuda::Event made = nullptr;
  check(libraries_->driver.call.event_create(&made, cuda::kEventWithoutTime), "making an event");
  return {made, libraries_->driver.call.event_destroy};
}

std::vector<std::string> GpuParts::notes() const {
  std::string sizes;
  std::vector<std::string> shared;
  for (const auto& [gpu, made] : streams_) {
    const int streams = made + (gpu == 0 ? static_cast<int>(greens_.size()) : 0);  // each has one of its own
    if (streams <= hardware_queues()) continue;
    shared.push_back(std::to_string(streams) + " streams share " + std::to_string(hardware_queues()) +
                     " hardware queues of a GPU (CUDA_DEVICE_MAX_CONNECTIONS): one may wait for another's work");
    break;  // the GPUs are alike
  }
  for (const GpuPart& part : parts_) sizes += (sizes.empty() ? "" : ", ") + std::to_string(part.processors);
  if (parts_.front().green == nullptr) return with(shared, {"one GPU per device: " + sizes + " processors"});
  const std::string whole = std::to_string(facts_.front().processors);
  return with(with(split_notes_, shared),
              {"green contexts of one split of " + whole + " processors: " + sizes,
               rest_ ? "transfers run on the " + std::to_string(rest_->processors) + " processors that were left over"
                     : "transfers run on the senders' processors, before other work",
               "parts share memory bandwidth, L2 cache, copy engines and power"});
}

}  // namespace debubble::live
