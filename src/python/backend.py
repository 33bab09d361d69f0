"""Builds the wheel of `teml`, with Python's standard library alone (PEP 517): the modules, and the
program `teml`. Cargo builds the program, unless TEML_PROGRAM names one."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel


def _version():
    return re.search(r'^version = "(.*)"', (HERE / "pyproject.toml").read_text(), re.M)[1]


def _program():
    given = os.environ.get("TEML_PROGRAM")
    if given:
        return pathlib.Path(given)
    subprocess.run(["cargo", "build", "--release", "--package", "teml"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR")
    return (pathlib.Path(target) if target else ROOT / "target") / "release" / "teml"


def _wheel(directory, files):
    """Writes a wheel of files: contents, and whether each is a program, by path."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag, version = f"py3-none-{platform}", _version()
    info = f"teml-{version}.dist-info"
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: teml\nVersion: {version}\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy>=1.25\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: teml\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nteml = teml.__main__:main\n",
    }
    files = {**files, **{f"{info}/{name}": (text.encode(), False) for name, text in texts.items()}}
    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), False)
    wheel = f"teml-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, (data, is_program) in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            out.writestr(entry, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    modules = sorted((HERE / "teml").glob("*.py"))
    files = {f"teml/{path.name}": (path.read_bytes(), False) for path in modules}
    files["teml/teml"] = (_program().read_bytes(), True)
    return _wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The modules stay here; TEML_PROGRAM or PATH leads to the program."""
    return _wheel(wheel_directory, {"teml.pth": (f"{HERE}\n".encode(), False)})
