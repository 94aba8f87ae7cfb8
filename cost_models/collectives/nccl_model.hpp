// nccl_model: latencies and efficiencies of NVIDIA's NCCL, as its tuner assumes them.
//
// Source: NVIDIA/nccl (BSD-3), src/graph/tuning.cc and topo.h, snapshot of mid 2026; older versions differ. A ring pays
// its base once and a hop's latency for each of its steps, a tree one hop per GPU of the chain inside a domain and one
// per level between domains. The latency of an NVLink hop is all of it; of a network hop the links' latency comes on
// top. What the tuner knows and this table does not: caps per channel of trees, corrections for middle sizes, PAT.
//
// Trees over two machines count 2 n bytes per network card, as the tuner has it for every tree (half of the bus
// bandwidth), though the links would carry n: the library does not get that half. Galvatron (PKU-DAIR/Hetu-Galvatron,
// Apache-2, hardware_configs, commit 9bb3862) measured 44.7 GB/s of bus bandwidth over 2 machines of 8, where 8 pairs
// side by side reach 8 x 8.13 = 65 GB/s; a tree of n bytes would have reached 112.
//
// In-network efficiencies are measured: bus bandwidths of 473 (8 H200) and 838 GB/s (8 B200) in nccl-tests, 8 GiB
// (stas00/ml-engineering, network/README.md); with 4 H200 or 5 B200 NCCL did no better than with its ring.
// All-to-all: SimuMax's fit for 8 B200 (7.3 us, 0.597 of 900 GB/s); we take its efficiency for all generations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cost_models/collectives/collective.hpp"

namespace debubble {

enum class LinkGeneration : std::uint8_t { kPcie, kVolta, kAmpere, kHopper, kBlackwell };
[[nodiscard]] const char* to_string(LinkGeneration generation);  // "PCIe", "NVLink 2", ...

// By what a topology or accelerator is called: "dgx-h100:8" and "h200" are Hopper. Nothing: it does not say.
[[nodiscard]] std::optional<LinkGeneration> link_generation(std::string_view name);

// In how many domains the group with the farthest reach has ranks; 1: no group leaves its domain.
[[nodiscard]] int domains_reached(const LinkGraph& graph, const std::vector<std::vector<std::int32_t>>& groups);

// `domains`: domains_reached. Bandwidths stay with the graph, whose links say what payload reaches (370.8 GB/s for an
// H100, not 450). `slow_down`: calculon (Apache-2) reserves 15 % of the multiprocessors for NCCL's kernels over NVLink,
// 2 % over a network; what is left takes 1 / 0.85 or 1 / 0.98 times as long.
[[nodiscard]] CollectiveModel nccl_model(LinkGeneration generation, int domains, CollectiveKind kind);
// The same for these groups of a graph; within a preset's machines with what was measured there (measured.hpp).
[[nodiscard]] CollectiveModel nccl_model_on(const LinkGraph& graph,
                                            const std::vector<std::vector<std::int32_t>>& groups,
                                            LinkGeneration generation, CollectiveKind kind);

}  // namespace debubble
