"""Damage to a file of a store: each mutation returns the names that a report may give."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from hypothesis import strategies as st
from safetensors.numpy import save_file

Names = set[str]
Mutation = Callable[[Path, "st.DataObject"], Names | None]


def _bytes(change: Callable[[bytes, "st.DataObject"], bytes]) -> Mutation:
    def mutate(file: Path, data: st.DataObject) -> Names:
        file.write_bytes(change(file.read_bytes(), data))
        return {file.name}

    return mutate


def _at(contents: bytes, data: st.DataObject) -> int:
    """Anywhere, or near an end, where headers and footers are."""
    size = len(contents)
    near = st.one_of(st.integers(0, min(64, size - 1)), st.integers(max(0, size - 64), size - 1))
    return data.draw(st.one_of(st.integers(0, size - 1), near))


def _flip(contents: bytes, data: st.DataObject) -> bytes:
    at = _at(contents, data)
    return (
        contents[:at]
        + bytes([contents[at] ^ 1 << data.draw(st.integers(0, 7))])
        + (contents[at + 1 :])
    )


def _overwrite(contents: bytes, data: st.DataObject) -> bytes:
    at, new = _at(contents, data), data.draw(st.binary(min_size=1, max_size=200))
    return contents[:at] + new + contents[at + len(new) :]


def _insert(contents: bytes, data: st.DataObject) -> bytes:
    at = _at(contents, data)
    return contents[:at] + data.draw(st.binary(min_size=1, max_size=64)) + contents[at:]


def _remove_bytes(contents: bytes, data: st.DataObject) -> bytes:
    at = _at(contents, data)
    return contents[:at] + contents[at + data.draw(st.integers(1, 64)) :]


def _like(file: Path, data: st.DataObject) -> Path:
    """Another file of the same folder."""
    names = sorted(other.name for other in file.parent.iterdir() if other != file)
    return file.with_name(data.draw(st.sampled_from(names)))


def _swap(file: Path, data: st.DataObject) -> Names:
    other = _like(file, data)
    mine, others = file.read_bytes(), other.read_bytes()
    file.write_bytes(others)
    other.write_bytes(mine)
    return {file.name, other.name}


def _replace_by_another(file: Path, data: st.DataObject) -> Names:
    shutil.copy(_like(file, data), file)
    return {file.name}


def _foreign(file: Path, data: st.DataObject) -> Names:
    file.unlink()
    if data.draw(st.booleans()):
        pd.DataFrame({"id": ["a"], "position": [0], "seed": [0]}).to_parquet(file)
    else:
        save_file({"weights/query": pd.array([1.0]).to_numpy()}, file, {"format": "1"})
    return {file.name}


def _folder(file: Path, data: st.DataObject) -> Names:
    file.unlink()
    file.mkdir()
    return {file.name}


def _dangling(file: Path, data: st.DataObject) -> Names:
    file.unlink()
    file.symlink_to("nowhere")
    return {file.name}


def _new_name(file: Path, data: st.DataObject) -> Path:
    """One like those that dynascope gives, or not."""
    name, digits = file.name, st.text("0123456789abcdef", min_size=12, max_size=12)
    like = data.draw(digits) + name[12:]
    return file.with_name(data.draw(st.sampled_from([like, f"x{name}", f"{name}.old", "x"])))


def _rename(file: Path, data: st.DataObject) -> Names:
    new = file.rename(_new_name(file, data))
    return {file.name, new.name}


def _copy(file: Path, data: st.DataObject) -> Names:
    new = _new_name(file, data)
    shutil.copy(file, new)
    return {new.name}


def _remove(file: Path, data: st.DataObject) -> Names | None:
    file.unlink()
    return {file.name} if file.parent.name == "trajectories" else None  # None: nobody can know


MUTATIONS: dict[str, Mutation] = {
    "cut off": _bytes(lambda b, data: b[: data.draw(st.sampled_from([0, 1, _at(b, data)]))]),
    "flip a bit": _bytes(_flip),
    "flip a bit again": _bytes(_flip),  # the likeliest damage has twice the share
    "overwrite": _bytes(_overwrite),
    "zeros": _bytes(lambda b, data: b[: _at(b, data)].ljust(len(b), b"\0")),
    "insert": _bytes(_insert),
    "remove bytes": _bytes(_remove_bytes),
    "append": _bytes(lambda b, data: b + data.draw(st.binary(min_size=1, max_size=64))),
    "text": _bytes(lambda b, data: b"not what you think\n"),
    "PAR1": _bytes(lambda b, data: b"PAR1" + data.draw(st.binary(max_size=64)) + b"PAR1"),
    "swap": _swap,
    "another": _replace_by_another,
    "foreign": _foreign,
    "folder": _folder,
    "dangling link": _dangling,
    "rename": _rename,
    "copy": _copy,
    "remove": _remove,
}
