"""Rows of traces/measured, as tools/kernel-tables takes them."""

import csv
import os
from statistics import median


class OwnRows:
    """What tools/gpu-validate kernels measured on one GPU; empty where it did not run."""

    ADDS = "weight_grad adds to fp32"
    # Tokens at which sums in 32 bits are taken. At 16384 what they add is 3 % of the time, as much as heat changes it.
    SUMS = (1024, 4096)

    def __init__(self, folder, gpu):
        self.peak, self.peak8, self.bandwidth = gpu[3], gpu[4], gpu[5]
        path = os.path.join(folder, f"{gpu[0]}_kernels.csv")
        rows = []
        if os.path.exists(path):
            with open(path, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        software = next((row["remark"] for row in rows if row["what"] == "device"), "")
        self.name = f"traces/measured/{os.path.basename(path)} ({software})"
        self.rows = [row for row in rows if row["us"]]
        self.upstream = {}  # format -> share of a long run by the public table of the same GPU

    def products(self, what, variant):
        """(m, n, k) -> microseconds."""
        return {(int(r["a"]), int(r["b"]), int(r["c"])): float(r["us"]) for r in self.rows
                if (r["what"], r["variant"]) == (what, variant)}

    def sustained(self):
        """Of 16 bits: the last of three seconds. Of 8: as much less as they reach in kernels of a millisecond and more
        of the same sizes."""
        last = self.products("sustained", "last second")
        half = median(2 * m * n * k / (us * self.peak * 1e6) for (m, n, k), us in last.items())
        wide, narrow = self.products("product bf16", "forward"), self.products("product fp8", "forward")
        less = median(wide[s] * self.peak / (us * self.peak8) for s, us in narrow.items() if us >= 1000)
        return {"bf16": half, "fp8": half * less}

    def sustained_of(self, name, kind, upstream):
        """The H200 has the processor and the power of the H100: its share falls as far below the public tables'."""
        measured = self.sustained().get(kind) if self.rows else None
        if name == "h100":
            self.upstream[kind] = upstream
        if measured is None or name not in ("h100", "h200"):
            return upstream
        return measured if name == "h100" else upstream * measured / self.upstream[kind]

    def accumulation(self, memory):
        """By tokens: what adding takes longer over the time of its bytes, six more for each weight."""
        plain = self.products("product bf16", "weight_grad")
        shown = {}
        for (m, n, k), us in self.products("product bf16", self.ADDS).items():
            shown.setdefault(m, []).append((us - plain[m, n, k]) / (6 * n * k / (self.bandwidth * 1e3 * memory)))
        return [(m, median(shown[m])) for m in self.SUMS]

    def attention(self):
        """cuDNN's: (pass, mask, size of a head, length) -> share of the peak."""
        found = {}
        for row in self.rows:
            words = row["variant"].split()
            if row["what"] != "attention" or words[2] != "cudnn_attention":
                continue
            batch, length, size = int(row["a"]), int(row["c"]), int(row["d"])
            products = {"forward": 2, "backward": 5}[words[0]] * (1 if words[1] == "causal" else 2)
            flops = products * batch * int(row["b"].split("/")[0]) * length * length * size
            key = ({"forward": "fwd", "backward": "bwd"}[words[0]], words[1], size, length)
            found.setdefault(key, []).append(flops / (float(row["us"]) * self.peak * 1e6))
        return {key: median(shares) for key, shares in found.items()}
