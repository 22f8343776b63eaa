"""Token classifiers of Hugging Face's form: model.onnx, tokenizer.json and config.json.

Run by ONNX Runtime and `tokenizers` (the extra `onnx`). Both read data and run no code of the
folder; no other file of it is opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.lazy import library
from voile.documents.model.classifiers.chain import log_odds_of
from voile.documents.model.classifiers.folders.onnx_parts import outside_files
from voile.documents.model.classifiers.folders.reading import FAR, MARKS, ModelPieces
from voile.documents.reader.windows import place_windows

MODEL, TOKENIZER, CONFIG = MARKS["onnx"], "tokenizer.json", "config.json"
WINDOW = 512
"""Word pieces that a model sees at once; neighbouring windows share a quarter."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "logits"
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
SHIFTED = frozenset({"camembert", "roberta", "xlm-roberta"})
"""Kinds of models whose first place is numbered pad_token_id + 1."""
PLACE_IN_NAME = re.compile(r"[BIELSU][-_](?=.)")
NONE = "O"


def files_of(folder: Path) -> list[str]:
    """Name the files that are used."""
    return [CONFIG, MODEL, TOKENIZER, *outside_files(folder / MODEL)]


def open_folder(folder: Path) -> OnnxReader:
    """Open a model.

    Raises RequestError: a file is absent or of the wrong form, or a library is not installed.
    """
    runtime, tokenizers = library("onnxruntime", "onnx"), library("tokenizers", "onnx")
    labels, window = _read_config(folder / CONFIG)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception:  # the library raises no narrower one
        raise RequestError("this is not a tokenizer", where=str(folder / TOKENIZER)) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        session = _session(runtime, folder / MODEL)
    except Exception:
        raise RequestError(
            "ONNX Runtime cannot open this model", where=str(folder / MODEL)
        ) from None
    reader = OnnxReader(session, tokenizer, labels, window, str(folder))
    reader.read_text("A")  # a model of another task is refused before any text is read
    return reader


def _session(runtime: Any, model: Path) -> Any:
    """Open a model for one thread of the processor, so that the same text has the same numbers."""
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what it logs may hold what it reads
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _read_config(path: Path) -> tuple[tuple[str, ...], int]:
    """Return the labels by their numbers, and how many pieces fit."""
    try:
        config = json.loads(path.read_bytes())
        names = {int(number): str(label) for number, label in config["id2label"].items()}
        labels = tuple(names[number] for number in range(len(names)))
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError):
        labels = ()
    if not any(label != NONE for label in labels):
        raise RequestError(
            "the model's labels are not named",
            where=str(path),
            instead="give each its name in id2label, as a token classifier has",
        )
    places = config.get("max_position_embeddings")
    if not isinstance(places, int):
        return labels, WINDOW
    if config.get("model_type") in SHIFTED:
        pad = config.get("pad_token_id")
        places -= 1 + (pad if isinstance(pad, int) else 1)
    return labels, min(places, WINDOW)


@dataclass(frozen=True, eq=False)
class OnnxReader:
    # session, tokenizer: of the libraries
    session: Any
    tokenizer: Any
    labels: tuple[str, ...]  # of the model, by their numbers
    window: int  # pieces at once, with those that begin and end a text
    folder: str

    @property
    def types(self) -> tuple[str, ...]:
        """The labels without B- or I-, each once."""
        bare = (PLACE_IN_NAME.sub("", label, count=1) for label in self.labels if label != NONE)
        return tuple(dict.fromkeys(bare))

    def read_text(self, text: str) -> ModelPieces:
        """Return the log-odds of each type for each word piece."""
        found = self._encode_text(text, special=False)
        numbers = np.array(found.ids, dtype=np.int64)
        before, after = self._around()
        parts = [
            self._run(np.concatenate([before, numbers[window], after]))[len(before) :][own]
            for window, own in place_windows(len(numbers), self.window - len(before) - len(after))
        ]
        chances = np.concatenate([np.zeros((0, len(self.labels))), *parts]) @ self._fold()
        places = np.array(found.offsets, dtype=np.intp).reshape(-1, 2)
        odds = np.clip(log_odds_of(np.minimum(chances, 1.0)), -FAR, FAR).astype(np.float32)
        return ModelPieces(places[:, 0], places[:, 1], odds)

    def _encode_text(self, text: str, *, special: bool) -> Any:
        try:
            return self.tokenizer.encode(text, add_special_tokens=special)
        except Exception:  # what the library says may hold what it was given
            raise self._misfit("the tokenizer cannot be run on text") from None

    def _around(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces that stand before and after any text."""
        found = self._encode_text("A", special=True)
        numbers = np.array(found.ids, dtype=np.int64)
        special = np.array(found.special_tokens_mask, dtype=np.bool_)
        own = np.flatnonzero(~special)
        if not len(own):
            return numbers, numbers[:0]
        return numbers[: own[0]], numbers[own[-1] + 1 :]

    def _fold(self) -> NDArray[np.float64]:
        """Return which type each label is of, (labels, K) of 0 and 1."""
        bare = np.array([PLACE_IN_NAME.sub("", label, count=1) for label in self.labels])
        return np.asarray(bare[:, None] == np.array(self.types), dtype=np.float64)

    def _run(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each piece's chances of each label."""
        try:
            scores = self._scores(self._build_inputs(numbers)).astype(np.float64)
        except RequestError:
            raise
        except Exception:  # what ONNX Runtime says may hold what it was given
            raise self._misfit("the model cannot be run on text") from None
        if scores.shape != (1, len(numbers), len(self.labels)):
            raise self._misfit("the model does not give a number for each word piece and label")
        if not np.isfinite(scores).all():
            raise self._misfit("the model gives a score that is not a finite number")
        odds = np.exp(scores[0] - scores[0].max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def _build_inputs(self, numbers: NDArray[np.int64]) -> Mapping[str, NDArray[Any]]:
        known = {
            "input_ids": numbers,
            "attention_mask": np.ones_like(numbers),
            "token_type_ids": np.zeros_like(numbers),
        }
        asked = {one.name: NUMBERS.get(one.type) for one in self.session.get_inputs()}
        if "input_ids" not in asked or not asked.keys() <= known.keys() or None in asked.values():
            raise self._misfit(f"the model asks for other than {', '.join(INPUTS)}")
        return {name: known[name][None].astype(kind) for name, kind in asked.items()}

    def _scores(self, feed: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        names = [one.name for one in self.session.get_outputs()]
        wanted = OUTPUT if OUTPUT in names else names[0]
        return np.asarray(self.session.run([wanted], feed)[0])

    def _misfit(self, what: str) -> RequestError:
        return RequestError(
            what, where=self.folder, instead="give a token classifier, and its own tokenizer"
        )
