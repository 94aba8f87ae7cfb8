// ModelEffects: what the model of a transformer's layers takes into account, each to be switched off alone, so that a
// study can say what it is worth (`accuracy --without`). Runs have all of them; `simulate` has no flag for less.
#pragma once

namespace debubble {

struct ModelEffects {
  bool measured_products = true;     // products by measured tables; else constant shares of the peak, tiles and waves
  bool product_sizes = true;         // small products reach less than large ones; else all reach what the largest do
  bool sustained = true;             // what power allows a long run bounds products
  bool framework = true;             // products take as much longer as a framework's do
  bool accumulation = true;          // weight gradients that add to 32 bits read and write more
  bool grouped_products = true;      // experts' products take longer than one product of all their rows
  bool measured_attention = true;    // attention by measured tables; else one share of the peak
  bool causal_softmax = true;        // a softmax in memory reads no score that the mask hides; else all
  bool bias_sums = true;             // gradients of biases take a pass of their own beside a softmax in memory
  bool measured_passes = true;       // passes over memory at the bandwidth that norms reach; else one share
  bool quantisation = true;          // passes that make 8-bit factors take time
  bool wide_logits = true;           // logits and routers stay in 16 bits where products are in 8
  bool one_permutation = true;       // exchanges that know tokens need them sorted once, where they arrive
  bool padded_rows = true;           // experts' rows are copied to multiples that 8-bit products take, and back
  bool kernel_gaps = true;           // kernels without a measured table take a launch and a fill each
  bool measured_collectives = true;  // collectives inside layers as measured; else NCCL's own latencies and bandwidths
  bool slowed_compute = true;        // compute beside a collective is slowed
  bool expert_launches = true;       // the host launches the products of each expert one by one
  bool counted_tokens = true;        // the host waits for the GPU's count of each expert's tokens

  friend bool operator==(const ModelEffects&, const ModelEffects&) = default;
};

}  // namespace debubble
