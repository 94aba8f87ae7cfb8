"""The time of products of matrices as a surface over their sizes, as tools/kernel-tables takes it from measured rows.

The log of time is interpolated on a grid of log m, log n, log k. A fit of four parameters (ProductFit in
cost_models/transformer/kernel_tables.hpp) says how time goes with size, from a kernel's floor to its slope: the surface
is as smooth over the fit as the rows allow, and not over straight lines, which would cut the corner."""

import numpy as np

M = [256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384, 32768]
NK = [64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 51200, 65536]
AXES = [np.log(M), np.log(NK), np.log(NK)]
SHAPE = [len(axis) for axis in AXES]
NODES = np.exp(np.stack([at.ravel() for at in np.meshgrid(*AXES, indexing="ij")], axis=1))
SMOOTH = 0.1  # weight of a squared second difference between nodes; that of a measured row is 1


class Peak:
    """Of what was measured: TFLOP/s, GB/s, multiprocessors, bytes of one number of a factor."""

    def __init__(self, flops, bandwidth, processors, operand):
        self.flops, self.bandwidth, self.processors, self.operand = flops, bandwidth, processors, operand


def fit_time(parameters, sizes, peak):
    """Microseconds."""
    cap, k0, a0, t0 = parameters
    m, n, k = sizes.T
    compute = 2 * m * n * (k + k0) / (peak.flops * 1e6 * cap) * (1 + a0 * peak.processors * 128 * 256 / (m * n))
    memory = (peak.operand * (m * k + n * k) + 2 * m * n) / (peak.bandwidth * 1e3 * 0.85)
    return t0 + np.maximum(compute, memory)


def fit(sizes, times, peak):
    """Coordinate descent on the mean absolute log error."""
    best = [0.75, 100.0, 0.07, 3.0]
    step = [0.1, 60.0, 0.04, 1.0]
    bounds = [(0.2, 1.0), (0.0, 800.0), (0.0, 0.6), (0.5, 20.0)]

    def error(p):
        return float(np.mean(np.abs(np.log(fit_time(p, sizes, peak) / times))))

    least = error(best)
    for _ in range(60):
        moved = False
        for i in range(4):
            for sign in (1, -1):
                trial = list(best)
                trial[i] = min(max(trial[i] + sign * step[i], bounds[i][0]), bounds[i][1])
                value = error(trial)
                if value < least - 1e-7:
                    best, least, moved = trial, value, True
        if not moved:
            step = [s / 2 for s in step]
    return best


def weights(sizes):
    """Each row's shares of the eight nodes around it."""
    x = np.log(sizes)
    matrix = np.zeros((len(x), len(NODES)))
    low, part = [], []
    for d, axis in enumerate(AXES):
        at = np.clip(np.searchsorted(axis, x[:, d], side="right") - 1, 0, len(axis) - 2)
        low.append(at)
        part.append(np.clip((x[:, d] - axis[at]) / (axis[at + 1] - axis[at]), 0, 1))
    for corner in range(8):
        share = np.ones(len(x))
        node = np.zeros(len(x), int)
        for d in range(3):
            up = (corner >> d) & 1
            share *= part[d] if up else 1 - part[d]
            node = node * SHAPE[d] + low[d] + up
        matrix[np.arange(len(x)), node] += share
    return matrix


def least_squares(matrix, logs, base):
    """Nodes through the rows; second differences of what they are over `base`, the fit, are held small."""
    count = len(NODES)
    normal = matrix.T @ matrix
    index = np.arange(count).reshape(SHAPE)
    for d in range(3):
        moved = np.moveaxis(index, d, 0)
        for i in range(1, SHAPE[d] - 1):
            trio = ((moved[i - 1].ravel(), 1), (moved[i].ravel(), -2), (moved[i + 1].ravel(), 1))
            for a, wa in trio:
                for b, wb in trio:
                    np.add.at(normal, (a, b), SMOOTH * wa * wb)
    normal[np.arange(count), np.arange(count)] += 1e-6
    return (base + np.linalg.solve(normal, matrix.T @ (logs - matrix @ base))).reshape(SHAPE)


def growing(nodes):
    """More work never takes less time: halfway between the least surface above that grows and the largest below."""
    above, below = nodes, nodes
    for d in range(3):
        above = np.maximum.accumulate(above, axis=d)
        below = np.flip(np.minimum.accumulate(np.flip(below, d), axis=d), d)
    return (above + below) / 2


class ProductSurface:
    """`parameters` of the fit, and `log_nodes`, the logs of microseconds by m, n, k."""

    def __init__(self, sizes, times, peak):
        self.parameters = fit(sizes, times, peak)
        base = np.log(fit_time(self.parameters, NODES, peak))
        self.log_nodes = growing(least_squares(weights(sizes), np.log(times), base))

    def times(self, sizes):
        """Microseconds; sizes outside are held at the edge."""
        return np.exp(weights(sizes) @ self.log_nodes.ravel())
