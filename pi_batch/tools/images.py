"""What an image file is, by its bytes: the type, the size in pixels, and whether the file is whole."""

from __future__ import annotations

import struct
from collections.abc import Callable

from msgspec import Struct


class ImageFacts(Struct, frozen=True):
    """What the header says."""

    mime_type: str
    width_px: int
    height_px: int
    is_whole: bool
    """False when the file ends before the image does."""


def image_mime_type(head: bytes) -> str | None:
    """The type by the first bytes; None when it is no image that models take."""
    return next((kind for kind, (is_it, _) in _KINDS.items() if is_it(head)), None)


def image_facts(data: bytes) -> ImageFacts | None:
    """Type and size of a whole file's bytes; None when the header makes no sense as an image."""
    mime_type = image_mime_type(data)
    if mime_type is None:
        return None
    try:
        width, height, is_whole = _KINDS[mime_type][1](data)
    except (struct.error, IndexError):
        return None
    return ImageFacts(mime_type, width, height, is_whole) if width > 0 and height > 0 else None


def _png(data: bytes) -> tuple[int, int, bool]:
    width, height = struct.unpack(">II", data[16:24])
    return width, height, data[12:16] == b"IHDR" and b"IEND\xaeB`\x82" in data[-64:]


def _gif(data: bytes) -> tuple[int, int, bool]:
    width, height = struct.unpack("<HH", data[6:10])
    return width, height, data.rstrip(b"\0").endswith(b";")


def _jpeg(data: bytes) -> tuple[int, int, bool]:
    """Walk the segments to the frame header. Source: ITU-T T.81, annex B."""
    position = 2
    while True:
        if data[position] != 0xFF:
            return 0, 0, False
        marker = data[position + 1]
        if marker == 0xFF:  # fill byte
            position += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return width, height, b"\xff\xd9" in data[position:]
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:  # without a length
            position += 2
            continue
        position += 2 + int(struct.unpack(">H", data[position + 2 : position + 4])[0])


def _webp(data: bytes) -> tuple[int, int, bool]:
    """Source: the WebP container specification and RFC 6386 (VP8)."""
    is_whole = len(data) >= 8 + int(struct.unpack("<I", data[4:8])[0])
    match data[12:16]:
        case b"VP8X":
            width = int.from_bytes(data[24:27], "little") + 1
            height = int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = int(struct.unpack("<I", data[21:25])[0])
            width, height = (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
        case b"VP8 ":
            width, height = (size & 0x3FFF for size in struct.unpack("<HH", data[26:30]))
        case _:
            return 0, 0, False
    return width, height, is_whole


_KINDS: dict[str, tuple[Callable[[bytes], bool], Callable[[bytes], tuple[int, int, bool]]]] = {
    "image/png": (lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"), _png),
    "image/jpeg": (lambda head: head.startswith(b"\xff\xd8\xff"), _jpeg),
    "image/gif": (lambda head: head.startswith((b"GIF87a", b"GIF89a")), _gif),
    "image/webp": (lambda head: head[:4] == b"RIFF" and head[8:12] == b"WEBP", _webp),
}
