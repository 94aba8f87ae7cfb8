"""Lines of arguments for Megatron-LM: a grid of sizes, cuts, groups, recomputation, experts; what it refuses among them."""
import itertools

SHARED = ("--hidden-size 1024 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --bf16 --hidden-dropout 0 "
          "--attention-dropout 0 --lr 1e-4 --train-iters 10 --eval-iters 0 --tokenizer-type NullTokenizer ")
LLAMA = SHARED + ("--ffn-hidden-size 3584 --group-query-attention --num-query-groups 4 --position-embedding-type rope --normalization "
                  "RMSNorm --swiglu --disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 32000 ")
GPT = SHARED + "--vocab-size 50257 "
EXPERTS = LLAMA + "--num-layers 8 --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 1792 "


def line(words, world, counted=False):
    """`counted`: the model is built, and its parameters compared."""
    return " ".join(words.split()), world, counted


def cuts():
    """Layers, ranks, stages per rank in all spellings, fewer layers at the ends, the embedding and the loss counted."""
    virtual = ("", "--num-layers-per-virtual-pipeline-stage 1", "--num-layers-per-virtual-pipeline-stage 3",
               "--num-virtual-stages-per-pipeline-rank 1", "--num-virtual-stages-per-pipeline-rank 2",
               "--num-virtual-stages-per-pipeline-rank 3")
    ends = ("", "--decoder-first-pipeline-num-layers 2", "--decoder-last-pipeline-num-layers 3",
            "--decoder-first-pipeline-num-layers 4 --decoder-last-pipeline-num-layers 4", "--account-for-embedding-in-pipeline-split",
            "--account-for-loss-in-pipeline-split",
            "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split")
    for layers, p, stages, end in itertools.product((10, 11, 12, 16), (2, 4), virtual, ends):
        yield line(f"{LLAMA} --num-layers {layers} --pipeline-model-parallel-size {p} {stages} {end} "
                   "--micro-batch-size 1 --global-batch-size 16", 2 * p, layers == 12 and p == 2)


def layouts():
    for layout, p, more in (
            ("Et*3|(t*4|)*2t*4,t*1L", 4, ""), ("Et*6|t*6L", 2, ""), ("E|t*6|t*6|L", 4, ""), ("Et*3|t*3|t*3|t*3|m|L", 2, ""),
            ("Et*2|(t|)*10L", 4, ""), ("Et*5|(t|)*6tL", 4, ""), ("Et*3|t*3|t*3|t*3L", 2, ""), ("Et*3|t*3|t*3|t*3L", 4, ""),
            ("Et*12||L|", 4, ""), ("Ettt|(ttt|)*2tttL", 2, ""), ("Et*3|(t*3|)*2t*2L", 4, ""), ("t*6|Et*6L", 2, ""), ("Et*6|t*6", 2, ""),
            ("Et*6|t*6L", 2, "--num-virtual-stages-per-pipeline-rank 1"), ("Et*3|t*3|t*3|t*3L", 2, "--num-layers-per-virtual-pipeline-stage 3"),
            ("Et*4|t*4|t*4L", 2, ""), ("Et*6|t*6L", 2, "--decoder-first-pipeline-num-layers 6"),
            ("Et*6|t*6L", 2, "--account-for-loss-in-pipeline-split"), ("Et*6|t*6X", 2, "")):
        yield line(f"{LLAMA} --num-layers 12 --pipeline-model-parallel-size {p} --pipeline-model-parallel-layout {layout} {more} "
                   "--micro-batch-size 1 --global-batch-size 16", p, True)


def batches():
    """Samples per step that ranks divide and that they do not, groups of microbatches, pipelines with too few."""
    for batch, micro, p, dp in itertools.product((2, 6, 12, 30), (1, 2), (1, 2, 4), (1, 2)):
        yield line(f"{GPT} --num-layers 8 --pipeline-model-parallel-size {p} --micro-batch-size {micro} --global-batch-size {batch}", p * dp)
    for m, group, p in itertools.product((4, 6, 7, 8, 10), (None, 2, 4, 5, 6, 8), (2, 4)):
        asked = f"--microbatch-group-size-per-virtual-pipeline-stage {group}" if group else ""
        yield line(f"{LLAMA} --num-layers 16 --pipeline-model-parallel-size {p} --num-layers-per-virtual-pipeline-stage 2 {asked} "
                   f"--micro-batch-size 1 --global-batch-size {m}", p)
    for more in ("--no-overlap-p2p-communication", "--overlap-p2p-communication-warmup-flush", "--decrease-batch-size-if-needed"):
        for p in (2, 4):
            yield line(f"{LLAMA} --num-layers 16 --pipeline-model-parallel-size {p} --num-layers-per-virtual-pipeline-stage 2 {more} "
                       "--micro-batch-size 1 --global-batch-size 9", p)


def vocabularies():
    for words, tp, divisor, tied in itertools.product((50257, 32000, 31999, 128257), (1, 2, 4), (None, 1, 64, 96), (True, False)):
        asked = f"--make-vocab-size-divisible-by {divisor}" if divisor else ""
        untied = "" if tied else "--untie-embeddings-and-output-weights"
        yield line(f"{SHARED} --num-layers 4 --vocab-size {words} --tensor-model-parallel-size {tp} {asked} {untied} "
                   "--pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 4", 2 * tp, divisor == 96)


def recomputation():
    kinds = itertools.product(("", "full", "selective"), ("", "uniform", "block"), ("", 1, 3, 4), (1, 2))
    for kind, method, layers, v in kinds:
        words = [f"--recompute-granularity {kind}" if kind else "", f"--recompute-method {method}" if method else "",
                 f"--recompute-num-layers {layers}" if layers else "",
                 "--num-virtual-stages-per-pipeline-rank 2" if v > 1 else ""]
        yield line(f"{LLAMA} --num-layers 12 --pipeline-model-parallel-size 2 {' '.join(words)} --micro-batch-size 1 "
                   "--global-batch-size 4", 2)
    for more in ("--recompute-activations", "--recompute-granularity selective --recompute-modules core_attn mlp",
                 "--recompute-granularity selective --recompute-modules nonsense",
                 "--recompute-granularity full --recompute-modules mlp --recompute-method block --recompute-num-layers 1"):
        yield line(f"{LLAMA} --num-layers 12 --pipeline-model-parallel-size 2 {more} --micro-batch-size 1 --global-batch-size 4", 2)


def experts():
    for tp, ep, etp, sequence in itertools.product((1, 2), (1, 2, 4), (None, 1, 2), (False, True)):
        more = (f"--expert-tensor-parallel-size {etp} " if etp else "") + ("--sequence-parallel" if sequence else "")
        yield line(f"{EXPERTS} --tensor-model-parallel-size {tp} --expert-model-parallel-size {ep} {more} "
                   "--pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 16", 16, tp == 2)
    for more in ("--moe-layer-freq 2", "--moe-layer-freq [0]+[1]*7", "--moe-layer-freq ([1]*3+[0])*2", "--moe-layer-freq [1]*7",
                 "--moe-shared-expert-intermediate-size 1792", "--expert-model-parallel-size 3", "--moe-router-topk 9",
                 "--moe-grouped-gemm", "--moe-token-dispatcher-type alltoall", "--moe-router-load-balancing-type none"):
        yield line(f"{EXPERTS} {more} --pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 16", 4, True)


def models():
    """Shapes of a block, and what goes with what."""
    for more in ("--swiglu", "--disable-bias-linear", "--add-qkv-bias", "--normalization RMSNorm", "--position-embedding-type none",
                 "--group-query-attention --num-query-groups 2", "--kv-channels 128",
                 "--qk-layernorm", "--squared-relu", "--ffn-hidden-size 3072 --swiglu", "--fp16", "--sequence-parallel",
                 "--tensor-model-parallel-size 2 --sequence-parallel", "--tensor-model-parallel-size 3", "--context-parallel-size 2",
                 "--num-attention-heads 15", "--use-distributed-optimizer", "--use-distributed-optimizer --overlap-grad-reduce",
                 "--overlap-param-gather", "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
                 "--max-position-embeddings 1024", "--pipeline-model-parallel-size 16"):
        yield line(f"{GPT} --num-layers 8 --pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 16 {more}", 8,
                   "16" not in more and "1024" not in more)


def lines():
    for part in (cuts, layouts, batches, vocabularies, recomputation, experts, models):
        for words, world, counted in part():
            yield part.__name__, words, world, counted
