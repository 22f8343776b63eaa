from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from voile.documents.learners.boosting import boost

@dataclass(frozen=True)
class AdaBoost:
    rounds: int = 200
    discrete: bool = False
    eps: float = 1.0
    cost_sensitive: bool = False
    def fit(self, examples, *, seed=0):
        m = examples.matrix[np.flatnonzero(examples.counted)]
        y = examples.labels[examples.counted]
        csc = m.tocsc()
        w = np.zeros((m.shape[1], examples.types), np.float32); b = np.full(examples.types, -1.0)
        for t in range(examples.types):
            pos = y == t + 1
            if not pos.any(): continue
            wt = np.where(pos, examples.costs[t] if self.cost_sensitive else 1.0, 1.0)
            f, b[t] = boost(m.indptr.astype(np.int32), m.indices.astype(np.int32), csc.indptr.astype(np.int32), csc.indices.astype(np.int32), pos, wt, self.rounds, m.shape[1], self.discrete, self.eps/len(y))
            w[:, t] = f
        return Lin(w, b)
class Lin:
    def __init__(s,w,b): s.weights,s.bias=w,b
    def margins(s,sight): return (sight.scores(s.weights)+s.bias).astype(np.float64)
