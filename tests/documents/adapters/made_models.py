"""Tiny models in folders: one in ONNX that knows each word, a spaCy pipeline of rules."""

from __future__ import annotations

import json

import numpy as np

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
INT, FLOAT = 7, 1


def write_onnx(
    folder,
    kinds,
    *,
    config=None,
    inputs=("input_ids", "attention_mask", "token_type_ids"),
    width=None,
    rows=None,
    scores=None,
    external=None,
):
    """Write a model that looks a piece's label up: word or piece -> number of `LABELS`.

    A word of which only parts are known is cut into them; "##" stands before all but the first.
    """
    import onnx
    from onnx import helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *kinds))}
    rule = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    rule.pre_tokenizer = pre_tokenizers.Whitespace()
    rule.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    rule.save(str(folder / "tokenizer.json"))
    table = np.zeros((len(vocabulary), width or len(LABELS)), dtype=np.float32)
    if scores is None:
        for word, kind in kinds.items():
            table[vocabulary[word], min(kind, table.shape[1] - 1)] = 6.0
    else:
        table[:] = scores
    weights = numpy_helper.from_array(table[:rows], "table")
    if external is not None:
        (folder / "model.bin").write_bytes(table.tobytes())
        onnx.external_data_helper.set_external_data(weights, external)
        weights.ClearField("raw_data")
        weights.data_location = onnx.TensorProto.EXTERNAL
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", inputs[0]], ["logits"])],
        "lookup",
        [helper.make_tensor_value_info(name, INT, [1, "n"]) for name in inputs],
        [helper.make_tensor_value_info("logits", FLOAT, [1, "n", table.shape[1]])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    named = {"id2label": {str(n): label for n, label in enumerate(LABELS)}}
    said = {"model_type": "bert", "max_position_embeddings": 16, **named} | (config or {})
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def write_spacy(folder, patterns):
    """Write a pipeline that finds words: word -> label."""
    import spacy

    nlp = spacy.blank("xx")
    rules = [{"label": label, "pattern": word} for word, label in patterns.items()]
    nlp.add_pipe("entity_ruler").add_patterns(rules)
    nlp.add_pipe("sentencizer")
    nlp.to_disk(folder)
    return folder
