"""Image headers by their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.images import ImageFacts, image_facts, image_mime_type
from tests.tools.pictures import gif, jpeg, png, webp

ALL = {
    "image/png": png(640, 480),
    "image/gif": gif(640, 480),
    "image/jpeg": jpeg(640, 480),
    "image/webp": webp("VP8X", 640, 480),
}


@pytest.mark.parametrize("mime_type", ALL)
def test_type_and_size_come_from_the_bytes(mime_type: str) -> None:
    assert image_mime_type(ALL[mime_type][:16]) == mime_type
    assert image_facts(ALL[mime_type]) == ImageFacts(mime_type, 640, 480, is_whole=True)


@pytest.mark.parametrize("kind", ["VP8X", "VP8L", "VP8"])
def test_each_kind_of_webp_tells_its_size(kind: str) -> None:
    assert image_facts(webp(kind, 300, 200)) == ImageFacts("image/webp", 300, 200, is_whole=True)


@pytest.mark.parametrize("mime_type", ALL)
def test_an_image_without_its_end_is_not_whole(mime_type: str) -> None:
    facts = image_facts(ALL[mime_type][:-2])
    assert facts is None or not facts.is_whole


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<!doctype html><p>404</p>\n",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe0\x00\x00",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
        b"RIFF\0\0\0\0WAVEfmt ",
        b"BM" + b"\0" * 60,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        png(0, 0),
    ],
)
def test_what_makes_no_sense_is_no_image(data: bytes) -> None:
    assert image_facts(data) is None


@given(st.sampled_from(sorted(ALL)), st.integers(0, 200), st.binary(max_size=8))
def test_damaged_headers_never_raise(mime_type: str, at: int, noise: bytes) -> None:
    data = bytearray(ALL[mime_type])
    data[at : at + len(noise)] = noise
    facts = image_facts(bytes(data))
    assert facts is None or facts.mime_type in ALL
