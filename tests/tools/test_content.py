"""H6: images, audio and files that a tool returns stay what they are."""

from __future__ import annotations

import pytest

from naru.errors import ToolError
from naru.messages import ImagePart, ResourcePart, TextPart
from naru.tools.content import audio, file, image
from naru.tools.functions.toolset import FunctionToolset
from naru.tools.toolset import CallContext

PNG = b"\x89PNG\r\n\x1a\n rest"


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [(PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"RIFF....WEBPVP8 ", "image/webp")],
)
def test_an_images_type_is_seen_from_its_bytes(data, mime_type):
    assert image(data).mime_type == mime_type


def test_what_is_no_image_or_audio_is_refused():
    with pytest.raises(ToolError, match="no image"):
        image(b"text")
    with pytest.raises(ToolError, match="no audio"):
        audio(PNG)
    assert audio(b"RIFF....WAVEfmt ").mime_type == "audio/wav"


def test_a_file_is_text_where_it_can_be_and_base64_else(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}', encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\x00\xff")
    assert file(tmp_path / "a.json").text == '{"a": 1}'
    assert file(tmp_path / "b.bin").blob == "AP8="
    with pytest.raises(ToolError, match=r"reading none failed: No such file"):
        file(tmp_path / "none")


async def test_a_tool_may_mix_text_and_parts():
    def chart():
        return ["Sales", image(PNG), ResourcePart("file:///a", text="notes"), {"n": 1}]

    result = await FunctionToolset([chart]).call("chart", {}, CallContext())
    assert [type(part) for part in result.content] == [TextPart, ImagePart, ResourcePart, TextPart]
    assert result.text == 'Sales\n[Image: image/png]\nnotes\n{"n":1}'
