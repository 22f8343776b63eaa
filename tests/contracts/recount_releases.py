"""Released tables, documents and messages counted again with pandas alone.

A recount reads the released rows, the source, and the source's row of each released row. It takes
each figure from its definition. It imports nothing of voile.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

MARK, WORD = r"\[[A-Z0-9_]+\]", r"\w+"


def recount_table(rows: pd.DataFrame, labels: Sequence[str], person: pd.Series) -> dict[str, float]:
    """Count people by the smallest group of their rows.

    rows : the release as text. person : of each row.
    """
    keys = [rows[name] for name in labels]
    sizes = person.groupby(keys, dropna=False).transform("nunique")
    least = sizes.groupby(person).min()
    return {
        "subjects": len(least),
        "k": int(least.min()),
        "sample_uniques": int((least == 1).sum()),
        "prosecutor_max": float(1 / least.min()),
        "prosecutor_mean": float((1 / least).mean()),
    }


def recount_joined_rows(
    rows: pd.DataFrame, labels: Sequence[str], pseudonym: str, k: int
) -> dict[str, float]:
    """Count people by the multiset of the labels of all rows with one pseudonym."""
    label = rows[[*labels]].fillna("").apply(tuple, axis=1)
    records = label.groupby(rows[pseudonym]).agg(lambda own: tuple(sorted(own)))
    classes = records.value_counts()
    sizes = records.map(classes)
    return {
        "k_all_rows": int(sizes.min()),
        "unique_all_rows": int((sizes == 1).sum()),
        "people_below_k": int((sizes < k).sum()),
        "people_under_11": int((sizes < 11).sum()),
        "groups_under_11": int((classes < 11).sum()),
    }


def recount_documents(
    rows: pd.DataFrame, source: pd.DataFrame, texts: Sequence[str]
) -> dict[str, float]:
    """Count texts, marks, and the source's words that the release contains.

    source : the source's row of each released row.
    """
    after = pd.concat([rows[name].dropna() for name in texts])
    before = pd.concat([source[name].dropna() for name in texts])
    had = Counter(word for text in before for word in re.findall(WORD, text))
    has = Counter(word for text in after for word in re.findall(WORD, re.sub(MARK, " ", text)))
    return {
        "rows": len(rows),
        "documents": len(after),
        "characters": int(after.str.len().sum()),
        "marks": int(after.str.count(MARK).sum()),
        "published_tokens": sum((had & has).values()) / sum(had.values()),
    }


def recount_messages(
    rows: pd.DataFrame,
    classes: pd.Series,
    person: pd.Series,
    numbers: Sequence[str],
    names: Sequence[str],
) -> dict[str, float]:
    """Count rows, and the largest distance between one class and all others in each column.

    classes, person : of each row. numbers, names : the reading columns.
    """
    sent = rows[[*numbers, *names]].notna().all(axis=1)
    weight = 1 / person[sent].groupby(person[sent]).transform("size")
    found = {"rows": len(rows), "blank": int((~sent).sum()), "decoded": int(sent.sum())}
    for name in (*numbers, *names):
        values = rows.loc[sent, name]
        values = values.astype(float) if name in numbers else values
        far = []
        for own in classes[sent].unique():
            inside = classes[sent] == own
            shares = [
                (weight * side).groupby(values).sum() / weight[side].sum()
                for side in (inside, ~inside)
            ]
            apart = shares[0] - shares[1]
            far.append(np.abs(apart.cumsum()).max() if name in numbers else np.abs(apart).sum() / 2)
        found[f"class_separation({name})"] = float(max(far))
    return found
