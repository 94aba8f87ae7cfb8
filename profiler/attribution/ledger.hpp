// Ledger: every accepted piece of GPU work, entered once, and every refused one, counted.
//
//     layers + rest = kernel_time      holds after every entry
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/name_table.hpp"
#include "profiler/attribution/slot.hpp"
#include "profiler/attribution/tallies.hpp"
#include "profiler/records/record.hpp"
#include "sim/core/profile.hpp"

namespace debubble::attribution {

// GPU work as attribution keeps it while its link or launch is still to come.
struct Work {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t kernel = 0;  // number of its name
  std::uint32_t stream = 0;  // tells streams apart
  GpuWork kind = GpuWork::kKernel;
};

class Ledger {
 public:
  explicit Ledger(Instances& instances) : instances_(instances) {}

  // Names the work; false when it is refused, and counted as such: no times, an end before its begin, a duration that
  // no kernel has.
  [[nodiscard]] bool take(const KernelRecord& record, Work& work);
  // Enters work into its slot; nccl's goes to the rest, and copies outside of layers have a category of their own.
  void enter(Slot slot, const Work& work);
  void lose(std::string_view what, std::int64_t count = 1);
  // Whether the kernel of that number is a matrix product, or a part of the product before it (the sum of a split-K).
  [[nodiscard]] bool is_product(std::uint32_t kernel) { return traits_of(kernel).product; }
  [[nodiscard]] bool is_part_of_product(std::uint32_t kernel) { return traits_of(kernel).part_of_product; }

  [[nodiscard]] const Tallies& tallies() const { return tallies_; }
  [[nodiscard]] const NameTable& kernels() const { return kernels_; }
  [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& losses() const { return losses_; }
  [[nodiscard]] std::int64_t entered() const { return entered_; }
  [[nodiscard]] Nanoseconds entered_time() const { return entered_time_; }
  // Work of a layer that overlapped other work of the same execution, on another stream.
  [[nodiscard]] Nanoseconds overlapped() const { return overlapped_; }
  [[nodiscard]] Nanoseconds communication_in_layers() const { return communication_in_layers_; }
  void forget_overlaps() { last_.clear(); }  // instances have new numbers from here on

 private:
  struct Traits {
    bool communication = false;  // "nccl" in the name
    bool weight = false;         // a norm's kernel for gamma and beta
    bool product = false;
    bool part_of_product = false;
  };
  struct Last {
    std::uint32_t instance = kNoInstance;
    Work work;
  };

  void note_overlap(std::uint32_t layer, std::uint32_t instance, const Work& work);
  [[nodiscard]] const Traits& traits_of(std::uint32_t kernel);

  Instances& instances_;
  NameTable kernels_;
  std::vector<Traits> traits_;
  Tallies tallies_;
  std::vector<Last> last_;  // by layer
  std::map<std::string, std::int64_t, std::less<>> losses_;
  std::int64_t entered_ = 0;
  Nanoseconds entered_time_ = 0;
  Nanoseconds overlapped_ = 0;
  Nanoseconds communication_in_layers_ = 0;
};

}  // namespace debubble::attribution
