"""Run anonypy or ANJANA in a Python of their own: they ask for other versions of NumPy.

    python trees_rivals_worker.py PROGRAM ROWS.npz OUT.npz SECONDS

ROWS has `codes` (rows, d), `k`, which columns are `numbers`, and `level_J`, of column J (levels,
values) the number of the group that holds each value. OUT has `group` (rows,), -1 of suppressed
rows, of each column `values_J` (groups, values) bool, and the CPU seconds taken. The process ends
after so many CPU SECONDS.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd

SUPPRESSED_PERCENT = 5


def anonypy(codes, numbers, levels, k):
    """Partition by anonypy's Mondrian; a group shows a span of numbers, or a set of names."""
    from anonypy.mondrian import Mondrian

    frame = pd.DataFrame(codes, columns=[f"c{j}" for j in range(codes.shape[1])])
    for name, number in zip(frame.columns, numbers, strict=True):
        if not number:
            frame[name] = frame[name].astype("category")
    began = time.process_time()
    parts = Mondrian(frame, list(frame.columns)).partition(k)
    took = time.process_time() - began
    group = np.full(len(codes), -1)
    shown = [np.zeros((len(parts), level.shape[1]), dtype=bool) for level in levels]
    for i, rows in enumerate(parts):
        group[rows] = i
        for j, values in enumerate(shown):
            own = np.unique(codes[rows, j])
            values[i, slice(own[0], own[-1] + 1) if numbers[j] else own] = True
    return group, shown, took


def anjana(codes, numbers, levels, k):
    """Generalise by ANJANA's hierarchies, columns as wholes, and suppress up to 5% of rows."""
    from anjana.anonymity import k_anonymity

    names = [f"c{j}" for j in range(codes.shape[1])]
    frame, ladders = pd.DataFrame({"row": np.arange(len(codes))}), {}
    for name, own, column in zip(names, levels, codes.T, strict=True):
        labels = {i: np.char.add(f"{i} ", level.astype(str)) for i, level in enumerate(own)}
        ladders[name] = {i: label.astype(object) for i, label in labels.items()}
        frame[name] = ladders[name][0][column]
    began = time.process_time()
    out = k_anonymity(frame, [], names, k, SUPPRESSED_PERCENT, ladders)
    took = time.process_time() - began
    if not len(out):
        raise SystemExit("nothing found")
    kept, group = np.unique(out[names].to_numpy().astype(str), axis=0, return_inverse=True)
    shown = []
    for own, label in zip(levels, kept.T, strict=True):
        level = int(label[0].split()[0])
        shown.append(own[level][None] == np.array([int(x.split()[1]) for x in label])[:, None])
    placed = np.full(len(codes), -1)
    placed[out["row"].to_numpy()] = group.ravel()
    return placed, shown, took


def work():
    program, source, out, seconds = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    rows = np.load(source)
    levels = [rows[f"level_{j}"] for j in range(rows["codes"].shape[1])]
    run = {"anonypy": anonypy, "anjana": anjana}[program]
    group, shown, took = run(rows["codes"], rows["numbers"], levels, int(rows["k"]))
    np.savez(out, group=group, took=took, **{f"values_{j}": own for j, own in enumerate(shown)})


if __name__ == "__main__":
    work()
