"""Packs the package and the library into a wheel: build_wheel.py LIBRARY FOLDER. Needs nothing but Python.

The wheel serves each Python from 3.9 on, because the package calls the library by ctypes.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
EPOCH = (2020, 1, 1, 0, 0, 0)  # so that the same contents make the same wheel


def version() -> str:
    header = (ROOT / "include/latchkey/version.hpp").read_text()
    numbers = {}
    for line in header.splitlines():
        words = line.split()
        if words[:1] == ["#define"] and words[1].startswith("LATCHKEY_VERSION_"):
            numbers[words[1].removeprefix("LATCHKEY_VERSION_")] = words[2]
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def metadata() -> str:
    return f"""Metadata-Version: 2.1
Name: latchkey
Version: {version()}
Summary: Locks across threads, processes, machines and languages, on the protocol of Redisson
License: BSL-1.0
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Classifier: Framework :: AsyncIO
"""


def build(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    info = f"latchkey-{version()}.dist-info"
    files = {}
    for source in sorted((HERE / "latchkey").iterdir()):
        if source.suffix in (".py", ".pyi", ".typed") or source.name == "py.typed":
            files[f"latchkey/{source.name}"] = source.read_bytes()
    files["latchkey/liblatchkey_c.so"] = library.read_bytes()
    files[f"{info}/METADATA"] = metadata().encode()
    wheel = f"Wheel-Version: 1.0\nGenerator: latchkey\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files[f"{info}/WHEEL"] = wheel.encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"latchkey-{version()}-{tag}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, content)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(build(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
