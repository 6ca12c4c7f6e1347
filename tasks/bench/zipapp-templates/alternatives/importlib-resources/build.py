import io
import pathlib
import zipfile

FILES = [path for path in pathlib.Path("letters").rglob("*")
         if path.is_file() and not {"tests", "__pycache__"} & set(path.parts)]


def build():
    pathlib.Path("dist").mkdir(exist_ok=True)
    whole = io.BytesIO()
    entries = [("__main__.py", b"import runpy\nrunpy.run_module('letters', run_name='__main__', alter_sys=False)\n")]
    entries += [(path.as_posix(), path.read_bytes()) for path in FILES]
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(entries):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    pathlib.Path("dist/letters.pyz").write_bytes(b"#!/usr/bin/env python3\n" + whole.getvalue())


if __name__ == "__main__":
    build()
