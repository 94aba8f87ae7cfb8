#!/usr/bin/env python3
"""Writes recordings of one made-up training run, as torch.profiler and as Nsight Systems would make them.

    make_golden.py FOLDER

The model is an embedding, two blocks (norm, linear, gelu, linear) and a head. Kernels take, in us:

                 F     I     W     accumulated
    embedding   11     -    13     1
    block       70    74    66     4 x 1          5+30+7+28   6+31+8+29   3+30+28+2+3 (norm, two products, two biases)
    head        20    21    19     1

A step also has a loss (4, outside of layers), an all-reduce (50), an optimizer (15) and a copy to the device (9). Rank 1's
kernels take 1 us longer each. Every time has a fraction of 125 ns, so that nothing is lost that is not printed.

    training-rank0.json, training-rank1.json   modules as python_function, memory, three steps
    recompute.json                             named layers, blocks recomputed in backward, two steps
    old.json                                   names and numbers of 2021: "Operator", "external id", whole us
    training.sql                               rank 0 again, an Nsight Systems export as SQL
"""
import contextlib
import json
import pathlib
import sys

M, D, H = 32, 16, 64  # tokens, width, inner width
US = 1000
BASE = 1_751_410_836_000_000_000  # baseTimeNanoseconds
START = 1_428_625_731_000_000_000 // 1000


class Recording:
    def __init__(self, longer=0, modules=True, recompute=False):
        self.longer, self.modules, self.recompute = longer * US, modules, recompute
        self.now = START
        self.gpu = {}  # stream -> when it is free
        self.ranges, self.launches, self.work, self.memory = [], [], [], []
        self.correlation, self.external, self.sequence = 100, 0, {1: 10, 2: 500}
        self.thread = 1
        self.live = 0

    @contextlib.contextmanager
    def range(self, name, kind="cpu_op", **fields):
        self.external += 1
        row = {"name": name, "kind": kind, "thread": self.thread, "begin": self.now, "id": self.external, **fields}
        self.ranges.append(row)
        self.now += 375
        outer, self.inner = getattr(self, "inner", None), row
        yield row
        self.inner = outer
        self.now += 250
        row["end"] = self.now

    def op(self, name, us=0, kernel="elementwise_kernel", **fields):
        with self.range(name, **fields):
            if us:
                self.launch(kernel, us)

    def launch(self, name, us, stream=7, kind="kernel", size=0):
        self.correlation += 1
        begin = self.now
        self.now += 2 * US
        self.launches.append({"begin": begin, "end": self.now, "thread": self.thread, "correlation": self.correlation,
                              "id": self.inner["id"], "call": {"kernel": "cudaLaunchKernel"}.get(kind, "cudaMemcpyAsync")})
        start = max(self.gpu.get(stream, 0), self.now + 1500)
        end = start + us * US + 125 + self.longer
        self.gpu[stream] = end
        self.work.append({"name": name, "kind": kind, "begin": start, "end": end, "stream": stream, "bytes": size,
                          "correlation": self.correlation, "id": self.inner["id"]})
        self.now += 500

    def allocate(self, size):
        self.live += size
        self.memory.append({"time": self.now, "thread": self.thread, "bytes": size, "total": self.live})
        self.now += 125

    def number(self):
        """The sequence number that the next autograd node of this thread gets."""
        self.sequence[self.thread] += 1
        return {"seq": self.sequence[self.thread], "fwd": 0}

    @contextlib.contextmanager
    def layer(self, module, name):
        if self.modules:
            with self.range("nn.Module: " + module, "python_function") as row:
                yield row
        else:
            with self.range("debubble.layer:" + name, "user_annotation") as row:
                yield row

    # Forward passes; each returns its autograd nodes in the order of the forward.
    def linear(self, us, k, n, what):
        number = self.number()
        with self.range("aten::linear", dims=[[M, k], [n, k], [n]], **number):
            self.allocate(M * n * 2)
            self.op("aten::addmm", us, "ampere_bf16_gemm_tn", dims=[[n], [M, k], [k, n], [], []], **number)
        return [("Addmm", number["seq"], self.thread, us, k, n, what)]

    def pointwise(self, name, us, node, **fields):
        number = self.number()
        self.op(name, us, name.split("::")[1] + "_kernel", **number, **fields)
        return [(node, number["seq"], self.thread, us)]

    def block(self, index):
        with self.layer(f"Block_{index}", f"block.{index}"):
            nodes = self.pointwise("aten::native_layer_norm", 5, "NativeLayerNorm", dims=[[M, D], [], [D], [D], []])
            nodes += self.linear(30, D, H, "up")
            nodes += self.pointwise("aten::gelu", 7, "Gelu", dims=[[M, H], []])
            nodes += self.linear(28, H, D, "down")
        return nodes

    def forward(self):
        nodes = []
        with self.layer("Net_0", "net") if self.modules else contextlib.nullcontext():
            with self.layer("Embedding_0", "embedding"):
                nodes += self.pointwise("aten::embedding", 11, "Embedding", dims=[[100, D], [M], [], [], []])
            for index in range(2):
                if self.recompute:
                    with self.range("CheckpointFunction", **self.number()) as row:
                        for node in self.block(index):
                            del node  # without gradients, so without nodes; the numbers do not matter
                    nodes.append(("Checkpoint", row["seq"], 1, index))
                else:
                    nodes += self.block(index)
            with self.layer("Linear_4", "head"):
                nodes += self.linear(20, D, 100, "head")
        nodes += self.pointwise("aten::nll_loss_forward", 4, "NllLoss", dims=[[M, 100], [M], [], [], []])
        return nodes

    @contextlib.contextmanager
    def node(self, name, seq, forward_thread, dims=None):
        fields = {"seq": seq, "fwd": forward_thread}
        with self.range(f"autograd::engine::evaluate_function: {name}Backward0", **fields):
            with self.range(f"{name}Backward0", **fields, **({"dims": dims} if dims else {})):
                yield

    def accumulate(self):
        with self.range("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"):
            with self.range("torch::autograd::AccumulateGrad"):
                self.op("aten::add_", 1, "vectorized_elementwise_kernel")

    def backward(self, nodes):
        for node in reversed(nodes):
            name, seq, thread = node[:3]
            if name == "Addmm":
                us, k, n, what = node[3:]
                with self.node(name, seq, thread, [[M, n]]):
                    self.op("aten::mm", us + 1, "ampere_bf16_gemm_nn", dims=[[M, n], [n, k]])
                    self.op("aten::mm", us if what != "head" else us - 1, "ampere_bf16_gemm_nt", dims=[[n, M], [M, k]])
                    if what != "head":
                        self.op("aten::sum", 2 if what == "up" else 3, "reduce_kernel", dims=[[M, n], [], [], []])
                for _ in range(2 if what != "head" else 1):
                    self.accumulate()
            elif name == "NativeLayerNorm":
                with self.node(name, seq, thread):
                    with self.range("aten::native_layer_norm_backward", dims=[[M, D], [M, D], [], [M, 1], [M, 1], [D], [D]]):
                        self.launch("layer_norm_grad_input_kernel", 6)
                        self.launch("GammaBetaBackwardCUDAKernel", 3)
            elif name == "Embedding":
                with self.node(name, seq, thread):
                    self.op("aten::embedding_dense_backward", 13, "embedding_backward_feature_kernel")
                self.accumulate()
            elif name == "Checkpoint":
                with self.range("autograd::engine::evaluate_function: CheckpointFunctionBackward", seq=seq, fwd=thread):
                    with self.range("CheckpointFunctionBackward", seq=seq, fwd=thread):
                        self.backward(self.block(node[3]))
            else:
                with self.node(name, seq, thread):
                    self.op(f"aten::{name.lower()}_backward", {"Gelu": 8, "NllLoss": 4}[name], "backward_kernel")

    def step(self, index):
        with self.range(f"ProfilerStep#{index}", "user_annotation"):
            with self.range("aten::copy_"):
                self.launch("Memcpy HtoD (Pinned -> Device)", 9, kind="gpu_memcpy", size=M * 8)
            nodes = self.forward()
            self.thread = 2
            self.backward(nodes)
            with self.range("nccl:all_reduce", "user_annotation"):
                self.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 50, stream=20)
            self.thread = 1
            with self.range("Optimizer.step#SGD.step", "user_annotation"):
                self.op("aten::_foreach_add_", 15, "multi_tensor_apply_kernel")
            self.allocate(-self.live)
            self.now = max(self.now, *self.gpu.values()) + 5 * US


def micros(time):
    """As a JSON number with three decimals, which `json` would not keep."""
    return float(f"{time // US}.{time % US:03d}")


def new_style(recording, rank):
    events = []
    tid = {1: 25286, 2: 25300}
    for row in recording.ranges:
        if row["kind"] == "python_function":
            args = {"Python id": row["id"], "Python module id": 0}
        else:
            args = {"External id": row["id"], "Record function id": 0}
        if "seq" in row:
            args |= {"Sequence number": row["seq"], "Fwd thread id": row["fwd"]}
        if "dims" in row:
            args["Input Dims"] = row["dims"]
        events.append({"ph": "X", "cat": row["kind"], "name": row["name"], "pid": 25286, "tid": tid[row["thread"]],
                       "ts": micros(row["begin"]), "dur": micros(row["end"] - row["begin"]), "args": args})
    operators = {row["id"] for row in recording.ranges if row["kind"] == "cpu_op"}
    for row in recording.launches:
        args = {"cbid": 211, "correlation": row["correlation"]}
        if row["id"] in operators:
            args["External id"] = row["id"]
        events.append({"ph": "X", "cat": "cuda_runtime", "name": row["call"], "pid": 25286, "tid": tid[row["thread"]],
                       "ts": micros(row["begin"]), "dur": micros(row["end"] - row["begin"]), "args": args})
        events.append({"ph": "s", "id": row["correlation"], "pid": 25286, "tid": tid[row["thread"]],
                       "ts": micros(row["begin"]), "cat": "ac2g", "name": "ac2g"})
    for row in recording.work:
        args = {"device": rank, "context": 1, "stream": row["stream"], "correlation": row["correlation"]}
        if row["id"] in operators:
            args["External id"] = row["id"]
        args |= {"bytes": row["bytes"]} if row["bytes"] else {"grid": [8, 1, 1], "block": [128, 1, 1]}
        events.append({"ph": "X", "cat": row["kind"], "name": row["name"], "pid": rank, "tid": row["stream"],
                       "ts": micros(row["begin"]), "dur": micros(row["end"] - row["begin"]), "args": args})
    for number, row in enumerate(recording.memory):
        events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 25286,
                       "tid": tid[row["thread"]], "ts": micros(row["time"]),
                       "args": {"Total Allocated": row["total"], "Bytes": row["bytes"], "Addr": 1 << 40 | number,
                                "Device Id": rank, "Device Type": 1}})
    return {"schemaVersion": 1, "deviceProperties": [{"id": i, "name": "Made-up GPU", "numSms": 132} for i in range(2)],
            "cupti_version": 22, "cuda_runtime_version": 12040, "cuda_driver_version": 12090,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "record_shapes": 1,
            "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE, "traceEvents": events}


def old_style(recording):
    """2021: categories with capitals, ids as text, whole microseconds since 1970, kernels named by correlation."""
    events = []
    epoch = BASE // US

    def whole(row):
        return {"ts": epoch + row["begin"] // US, "dur": row["end"] // US - row["begin"] // US}

    for row in recording.ranges:
        args = {"Device": 9, "External id": str(row["id"]), "Trace name": "PyTorch Profiler", "Trace iteration": 0}
        if "seq" in row:
            args |= {"Fwd thread id": str(row["fwd"]), "Sequence number": str(row["seq"])}
        if "dims" in row:
            args["Input dims"] = row["dims"]
        events.append({"ph": "X", "cat": {"cpu_op": "Operator"}.get(row["kind"], "user_annotation"), "name": row["name"],
                       "pid": 9, "tid": str(row["thread"]), **whole(row), "args": args})
    for row in recording.launches:
        events.append({"ph": "X", "cat": "Runtime", "name": row["call"], "pid": 9, "tid": str(row["thread"]), **whole(row),
                       "args": {"cbid": 211, "correlation": row["correlation"], "external id": str(row["correlation"])}})
    for row in recording.work:
        events.append({"ph": "X", "cat": {"kernel": "Kernel", "gpu_memcpy": "Memcpy"}[row["kind"]], "name": row["name"],
                       "pid": 0, "tid": f"stream {row['stream']}", **whole(row),
                       "args": {"device": 0, "context": 1, "stream": row["stream"], "correlation": row["correlation"],
                                "external id": str(row["correlation"])}})
    events.append({"ph": "X", "cat": "Kernel", "name": "shorter than a microsecond", "pid": 0, "tid": "stream 7",
                   "ts": epoch + recording.now // US, "dur": 0,
                   "args": {"device": 0, "context": 1, "stream": 7, "correlation": 99, "external id": "99"}})
    return {"schemaVersion": 1, "traceEvents": events}


def text_of(row):
    """The range's text as emit_nvtx writes it."""
    text = row["name"]
    if row.get("seq", -1) >= 0:
        text += f", seq = {row['seq']}"
    text += f", op_id = {row['id']}" if row["kind"] == "cpu_op" else ""
    return text + (f", sizes = {json.dumps(row['dims'])}" if "dims" in row else "")


def export(recording):
    """Tables and columns as NVIDIA documents them, those that nobody here reads left out."""
    process = 25286 << 24
    tid = {1: process | 25286, 2: process | 25300}
    names = sorted({row["name"] for row in recording.work} | {row["call"] for row in recording.launches})
    quoted = lambda text: "'" + text.replace("'", "''") + "'"
    lines = [
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);",
        "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);",
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER,"
        " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
        " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
        " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, graphNodeId INTEGER);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
        " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
        " bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);",
        "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,"
        " globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER NOT NULL);",
        "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER"
        " NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,"
        " memoryOperationType INTEGER NOT NULL, correlationId INTEGER);",
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'Made-up GPU');",
        f"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({BASE + START}, NULL, NULL);",
    ]
    for number, name in enumerate(names):
        lines.append(f"INSERT INTO StringIds VALUES ({number}, {quoted(name)});")
    for row in recording.launches:
        lines.append(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({row['begin']}, {row['end']}, 0,"
                     f" {tid[row['thread']]}, {row['correlation']}, {names.index(row['call'])}, 0);")
    for row in recording.work:
        place = f"{row['begin']}, {row['end']}, 0, 1, {row['stream']}, {row['correlation']}, {process}"
        if row["kind"] == "kernel":
            lines.append(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({place}, {names.index(row['name'])},"
                         f" {names.index(row['name'])}, NULL);")
        else:
            lines.append(f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({place}, {row['bytes']}, 1, NULL);")
    for number, row in enumerate(recording.memory):
        lines.append(f"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES ({row['time']}, {process}, 0, 1,"
                     f" {1 << 40 | number}, {abs(row['bytes'])}, 2, {int(row['bytes'] < 0)}, 0);")
    for row in recording.ranges:
        lines.append(f"INSERT INTO NVTX_EVENTS VALUES ({row['begin']}, {row['end']}, 59, {quoted(text_of(row))},"
                     f" {tid[row['thread']]}, NULL, NULL, 0);")
    return "\n".join(["BEGIN;", *lines, "COMMIT;"]) + "\n"


def run(steps, **options):
    recording = Recording(**options)
    for index in range(steps):
        recording.step(index + 5)
    return recording


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, trace):
        events = ",\n".join(json.dumps(event) for event in trace.pop("traceEvents"))
        head = json.dumps(trace)[:-1]
        (folder / name).write_text(f'{head}, "traceEvents": [\n{events}\n]}}\n', encoding="utf-8")

    write("training-rank0.json", new_style(run(3), 0))
    write("training-rank1.json", new_style(run(3, longer=1), 1))
    write("recompute.json", new_style(run(2, modules=False, recompute=True), 0))
    write("old.json", old_style(run(2, modules=False)))
    (folder / "training.sql").write_text(export(run(3)), encoding="utf-8")


if __name__ == "__main__":
    main()
