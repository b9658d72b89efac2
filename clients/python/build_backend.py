"""Builds the wheel with nothing but the standard library, so that `pip install` needs no network.

pip calls the functions below (PEP 517 and PEP 660). The package is pure Python: a wheel is a zip file of its sources and its metadata.
"""

import ast
import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "bowline"
TAG = "py3-none-any"
# Zip files cannot hold an earlier date. A fixed one makes equal sources equal wheels.
EARLIEST = (1980, 1, 1, 0, 0, 0)
SOURCES = ["pyproject.toml", "README.md", "build_backend.py"]


def _project():
    """The [project] table. Python 3.9 cannot read TOML; this table has only texts and lists of texts."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        table = re.search(r"^\[project\]\n(.*?)(?=^\[|\Z)", file.read(), re.M | re.S).group(1)
    return {key: ast.literal_eval(value) for key, value in re.findall(r'^([\w-]+) = ("[^"\n]*"|\[.*?\])$', table, re.M | re.S)}


def _metadata():
    project = _project()
    with open(os.path.join(HERE, project["readme"]), encoding="utf-8") as file:
        readme = file.read()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {each}" for each in project["classifiers"]),
        "Description-Content-Type: text/markdown",
        "",
        readme,
    ]
    return "\n".join(lines).encode()


def _name():
    return f"{PACKAGE}-{_project()['version']}"


def _modules():
    folder = os.path.join(HERE, PACKAGE)
    return {f"{PACKAGE}/{name}": os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith((".py", "py.typed"))}


def _info():
    wheel = f"Wheel-Version: 1.0\nGenerator: {PACKAGE}\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    return {"METADATA": _metadata(), "WHEEL": wheel.encode()}


def _write_wheel(directory, files):
    folder = f"{_name()}.dist-info"
    files = {**files, **{f"{folder}/{name}": data for name, data in _info().items()}}
    record = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}\n")
    record.append(f"{folder}/RECORD,,\n")
    files[f"{folder}/RECORD"] = "".join(record).encode()
    name = f"{_name()}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {name: _read(path) for name, path in _modules().items()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """For `pip install -e`: a wheel that only says where the sources are."""
    return _write_wheel(wheel_directory, {f"{PACKAGE}.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"{_name()}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        files = {each: os.path.join(HERE, each) for each in SOURCES}
        for path, source in {**files, **_modules()}.items():
            archive.add(source, f"{_name()}/{path}")
        info = os.path.join(sdist_directory, ".PKG-INFO")
        with open(info, "wb") as file:
            file.write(_metadata())
        archive.add(info, f"{_name()}/PKG-INFO")
        os.remove(info)
    return name
