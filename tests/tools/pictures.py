"""Small images made of bytes, whole as far as a header reader sees."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 2, height: int = 3, padding: int = 0) -> bytes:
    """A real PNG, grey; `padding` bytes more in a chunk that readers skip."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    rows = zlib.compress(b"".join(b"\0" + b"\x80" * width for _ in range(min(height, 100))))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    extra = chunk(b"tEXt", b"Comment\0" + b"x" * padding) if padding else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def gif(width: int = 2, height: int = 3) -> bytes:
    """One pixel's worth of GIF."""
    screen = struct.pack("<HHBBB", width, height, 0x80, 0, 0)
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\x00"
    return b"GIF89a" + screen + b"\0\0\0\xff\xff\xff" + frame + b";"


def jpeg(width: int = 2, height: int = 3) -> bytes:
    """Segments of a JPEG up to its end mark, with an application segment and a fill byte before the frame."""
    app = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    tables = b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0"
    frame = b"\xff\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\0\0\x3f\0" + b"\x12\x34"
    return b"\xff\xd8" + app + tables + frame + scan + b"\xff\xd9"


def webp(kind: str = "VP8X", width: int = 2, height: int = 3) -> bytes:
    """A RIFF container with the first chunk of one of the three kinds."""
    match kind:
        case "VP8X":
            body = b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
        case "VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 5
        case _:
            body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\0\0"
    chunk = kind.ljust(4).encode() + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk
