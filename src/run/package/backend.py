"""Builds the wheel of the package beside it, with Python's standard library alone (PEP 517)."""
import base64
import hashlib
import pathlib
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    info = f"{NAME}-{VERSION}.dist-info"
    files = {}
    for path in sorted((HERE / NAME).iterdir()):
        if path.is_file():
            files[f"{NAME}/{path.name}"] = path.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
        f"Summary: Kernels made by teml\nRequires-Dist: numpy\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: teml\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    record += f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(name, data)
    return wheel
