"""Run token classifiers in Hugging Face's format: model.onnx, tokenizer.json and config.json.

ONNX Runtime and `tokenizers` (the extra `onnx`) run them. Both read data and run no code of the
folder. No other file of the folder is opened.
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
"""The most word pieces that a model sees at once; neighbouring windows share a quarter."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "logits"
NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
SHIFTED = frozenset({"camembert", "roberta", "xlm-roberta"})
"""The kinds of models with pad_token_id + 1 as their first position."""
PLACE_IN_NAME = re.compile(r"[BIELSU][-_](?=.)")
NONE = "O"


def files_of(folder: Path) -> list[str]:
    """Return the names of the used files."""
    return [CONFIG, MODEL, TOKENIZER, *outside_files(folder / MODEL)]


def open_folder(folder: Path) -> OnnxReader:
    """Open a model.

    Raises
    ------
    RequestError : a file is absent or has the wrong form, or a library is not installed.
    """
    runtime, tokenizers = library("onnxruntime", "onnx"), library("tokenizers", "onnx")
    labels, window = _read_config(folder / CONFIG)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception:  # the library raises no narrower exception
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
    reader.read_text("A")  # refuse a model of another task before any text is read
    return reader


def _session(runtime: Any, model: Path) -> Any:
    """Open a model on one thread, so that the same text gives the same numbers."""
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # its log may contain its input
    return runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _read_config(path: Path) -> tuple[tuple[str, ...], int]:
    """Return the labels in the order of their numbers, and the size of a window."""
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
    # session, tokenizer: objects of the libraries
    session: Any
    tokenizer: Any
    labels: tuple[str, ...]  # the labels of the model, in the order of their numbers
    window: int  # the pieces in a window, including those that begin and end a text
    folder: str

    @property
    def types(self) -> tuple[str, ...]:
        """The distinct labels without B- or I-."""
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
        except Exception:  # the message of the library may contain its input
            raise self._misfit("the tokenizer cannot be run on text") from None

    def _around(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the special pieces before and after any text."""
        found = self._encode_text("A", special=True)
        numbers = np.array(found.ids, dtype=np.int64)
        special = np.array(found.special_tokens_mask, dtype=np.bool_)
        own = np.flatnonzero(~special)
        if not len(own):
            return numbers, numbers[:0]
        return numbers[: own[0]], numbers[own[-1] + 1 :]

    def _fold(self) -> NDArray[np.float64]:
        """Return the type of each label, a 0/1 matrix of (labels, K)."""
        bare = np.array([PLACE_IN_NAME.sub("", label, count=1) for label in self.labels])
        return np.asarray(bare[:, None] == np.array(self.types), dtype=np.float64)

    def _run(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of each label for each piece."""
        try:
            scores = self._scores(self._build_inputs(numbers)).astype(np.float64)
        except RequestError:
            raise
        except Exception:  # the message of ONNX Runtime may contain its input
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
