"""Token classifiers of Hugging Face's transformers (the extra `transformers`), from a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.adapters.scikit_learn import check_types, library, log_odds_of
from voile.documents.learners.learner import Examples, Margins, Sight

WINDOW = 512


@dataclass(frozen=True)
class Transformers:
    """A trained token classifier, taken as it is; calibration fits it to the text.

    folder : of the model and its tokeniser; nothing is downloaded, no code of the folder runs, and
        weights must be safetensors.
    types : label of the model, without B- or I- -> type, 1 to T; other labels are harmless.
    window : word pieces that the model sees at once; windows overlap by a quarter.
    """

    folder: str
    types: Mapping[str, int]
    window: int = WINDOW
    name: str = "transformers"

    def fit(self, examples: Examples, *, seed: int = 0) -> Tagger:
        """Load the model; nothing is learnt."""
        library("torch", "transformers")
        transformers = library("transformers", "transformers")
        if not Path(self.folder).is_dir():
            raise RequestError("there is no folder of a model", where=self.folder)
        loaded = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **loaded)
        model = transformers.AutoModelForTokenClassification.from_pretrained(
            self.folder, use_safetensors=True, **loaded
        )
        types = check_types(self.types, examples.types)
        kinds = np.zeros((model.config.num_labels, examples.types))
        for number, label in model.config.id2label.items():
            kind = types.get(label, types.get(label[2:] if label[1:2] == "-" else label))
            if kind is not None:
                kinds[int(number), kind - 1] = 1.0
        return Tagger(tokenizer, model.eval(), kinds, self.window)


@dataclass(frozen=True, eq=False)
class Tagger:
    """A model; a token's margins are the log-odds of its most certain piece in any window."""

    # tokenizer, model: transformers'
    tokenizer: Any
    model: Any
    kinds: NDArray[np.float64]  # (labels of the model, T) of 0 and 1
    window: int  # pieces at once

    def margins(self, sight: Sight) -> Margins:
        words = list(sight.words)
        chances = np.zeros((len(words), self.kinds.shape[1]))
        for start, end in pairwise(sight.first):
            if end > start:
                self._look(words[start:end], chances[start:end])
        return log_odds_of(np.minimum(chances, 1.0))

    def _look(self, words: list[str], chances: NDArray[np.float64]) -> None:
        torch = library("torch", "transformers")
        pieces = self.tokenizer(
            words,
            is_split_into_words=True,
            truncation=True,
            max_length=self.window,
            stride=self.window // 4,
            return_overflowing_tokens=True,
        )
        for number in range(len(pieces["input_ids"])):
            shown = {
                name: torch.tensor([pieces[name][number]])
                for name in self.tokenizer.model_input_names
                if name in pieces
            }
            with torch.inference_mode():
                scores = self.model(**shown).logits[0].double()
            found = torch.softmax(scores, dim=-1).numpy() @ self.kinds
            place = pieces.word_ids(number)
            inside = np.array([word is not None for word in place], dtype=np.bool_)
            of = np.array([word for word in place if word is not None], dtype=np.intp)
            np.maximum.at(chances, of, found[inside])
