"""Which embedder: the endpoint when one is set, else the embedded models, else hashed letters; and who reads again."""

from __future__ import annotations

from naru.builtins.data.embeddings.bare_names import BareNames
from naru.builtins.data.embeddings.embedder import Embedder
from naru.builtins.data.embeddings.english import EnglishReader
from naru.builtins.data.embeddings.ngrams import NgramEmbedder
from naru.builtins.data.embeddings.openai_endpoint import EndpointOptions, OpenAIEmbedder
from naru.builtins.data.embeddings.sentence_encoder import SentenceEncoder
from naru.builtins.data.embeddings.two_encoders import TwoEncoders
from naru.config import DataSettings


def choose_embedder(settings: DataSettings) -> Embedder:
    """Return the embedder that the settings and the installed extras give."""
    if settings.text_embedding_model_url:
        return OpenAIEmbedder(
            EndpointOptions(
                url=_endpoint(settings.text_embedding_model_url),
                model=settings.text_embedding_model_name,
                api_key=settings.text_embedding_api_key.get_secret_value(),
                batch_size=settings.text_embedding_batch_size,
                query_prefix=settings.text_embedding_query_prefix,
                passage_prefix=settings.text_embedding_passage_prefix,
            )
        )
    if TwoEncoders.is_installed():
        return TwoEncoders()
    return SentenceEncoder() if SentenceEncoder.is_installed() else NgramEmbedder()


def choose_reader(settings: DataSettings) -> EnglishReader | None:
    """Return what reads English again; nothing beside an endpoint, whose model its owner chose."""
    return EnglishReader() if EnglishReader.is_installed() and not settings.text_embedding_model_url else None


def choose_second_reading(embedder: Embedder) -> BareNames | None:
    """Return what reads columns without their tables; nothing beside another embedder, with which it is unproven."""
    return BareNames(embedder) if isinstance(embedder, TwoEncoders) else None


def _endpoint(url: str) -> str:
    """Complete a base URL such as `http://localhost:8080/v1`."""
    plain = url.rstrip("/")
    return plain if plain.endswith("embeddings") else f"{plain}/embeddings"
