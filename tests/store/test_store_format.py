"""The files are what FORMAT.md says, and readable without dynascope."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file
from store_cases import mixed, runs_of

import dynascope as ds
from dynascope.config import OPTIONS
from dynascope.store.schema import CONFIG, CURVES, SCHEMA
from dynascope.store.sidecar import SCHEMA as SIDECAR


class TestColumns:
    def test_every_option_has_one_of_its_own(self) -> None:
        assert list(CONFIG) == list(OPTIONS)
        assert {field.name for field in CONFIG.values()} <= set(SCHEMA.names)
        assert len(set(SCHEMA.names)) == len(SCHEMA.names)
        assert len({name.casefold() for name in SCHEMA.names}) == len(SCHEMA.names)  # as in SQL

    def test_every_shard_has_the_same(self, mixed_folder: Path) -> None:
        files = sorted((mixed_folder / "runs").iterdir())
        assert len(files) > 5
        schemas = [pq.read_schema(file).remove_metadata() for file in files]
        assert all(schema.equals(schemas[0]) for schema in schemas)
        assert schemas[0].names == SCHEMA.names

    def test_curves(self, mixed_folder: Path) -> None:
        rows = ds.load(mixed_folder).table([*CURVES]).to_pylist()
        for row, run in zip(rows, mixed(), strict=True):
            assert {name for name in CURVES if row[name] is not None} == set(run.curves)
            for name, curve in run.curves.items():
                np.testing.assert_array_equal(np.array(row[name], run.config.precision), curve)

    def test_format_md_lists_them_all(self) -> None:
        """Names, types and order of the table in FORMAT.md."""
        text = (Path(ds.__file__).parent / "store/FORMAT.md").read_text()
        told = []
        for name, type_ in re.findall(r"^\| `([^`]+)` \| ([a-z0-9 ]+) \|", text, re.MULTILINE):
            names = [name.replace("NAME", each) for each in ds.PARAMETER_NAMES]
            told += [(each, type_) for each in (names if "NAME" in name else [name])]
        words = {"double": "float64", "bool": "bool", "int64": "int64", "string": "string"}

        def spelled(type_: pa.DataType) -> str:
            if pa.types.is_list(type_):
                return f"list of {words[str(type_.value_type)]}"
            return words[str(type_)]

        assert told == [(field.name, spelled(field.type)) for field in (*SCHEMA, *SIDECAR)]


def sha(*parts: bytes, digits: int = 32) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:digits]


@pytest.mark.parametrize("case", ["default, short", "own data, no test", "steps"])
def test_checksums_are_what_format_md_says(case: str, tmp_path: Path) -> None:
    """Its section Checksums in other words, without dynascope's own."""
    runs_of(case).save(tmp_path / "store")
    ds.load(tmp_path / "store").tag("good")
    (file,) = (tmp_path / "store" / "runs").iterdir()
    shard, footer = file.stem.split("-")
    contents = file.read_bytes()
    assert footer == sha(contents[-int.from_bytes(contents[-8:-4], "little") - 8 :], digits=16)
    metadata = pq.read_metadata(file)
    about = json.loads(metadata.metadata[b"dynascope"])
    assert (about["shard"], metadata.num_row_groups) == (shard, 1)
    for at in range(metadata.num_columns):
        chunk = metadata.row_group(0).column(at)
        offsets = (chunk.dictionary_page_offset, chunk.data_page_offset)
        begin = min(offset for offset in offsets if offset is not None)
        name = chunk.path_in_schema.split(".")[0]
        wanted = sha(contents[begin : begin + chunk.total_compressed_size])
        assert about["columns"][name] == wanted
    path = tmp_path / "store" / "trajectories" / f"{shard}.safetensors"
    tensors = path.read_bytes()
    header = 8 + int.from_bytes(tensors[:8], "little")
    assert about["tensors"] == {"size": len(tensors), "header": sha(tensors[:header])}
    loaded = sorted(load_file(path).items())
    for row in pq.read_table(file).to_pylist():
        parts = []
        for name, tensor in loaded:
            kind = name.split("/")[0]
            if kind == "data":
                part = tensor
                assert name.split("/")[1] == row["data"]
            else:
                part = tensor[row[f"{kind}_begin"] : row[f"{kind}_end"]]
            parts += [f"{name}{list(part.shape)}".encode(), part.tobytes()]
        assert row["checksum"] == sha(*parts)
    (mark,) = (tmp_path / "store" / "marks").iterdir()
    assert mark.name == sha(mark.read_bytes()) + ".json"


OUTSIDER = """
import json, sys
from pathlib import Path
sys.modules["dynascope"] = None  # importing it fails from now on
folder, run = sys.argv[1:]

import duckdb, pandas
from safetensors import safe_open

frame = pandas.read_parquet(f"{folder}/runs").set_index("id")
row = frame.loc[run]
((parquet, curve, lr),) = duckdb.sql(
    "SELECT filename, train_loss, lr "
    f"FROM read_parquet('{folder}/runs/*.parquet', filename = true) WHERE id = '{run}'"
).fetchall()
shard = Path(parquet).name.split("-")[0]
with safe_open(f"{folder}/trajectories/{shard}.safetensors", "numpy") as file:
    rows = slice(row["weights_begin"], row["weights_end"])
    query = file.get_slice("weights/query")[rows]
    epochs = file.get_slice("weights/epoch")[rows]
print(json.dumps({
    "ids": sorted(frame.index),
    "accuracy": row["accuracy"],
    "relevant": row["relevant"].tolist(),
    "test_loss": row["test_loss"].tolist(),
    "train_loss": curve,
    "lr": lr,
    "query": query.tolist(),
    "epochs": epochs.tolist(),
}))
"""


def test_reading_without_dynascope(mixed_folder: Path) -> None:
    """pandas, DuckDB and safetensors, in a process that cannot import dynascope."""
    run = runs_of("steps, float64, no bias")[1]
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDER, str(mixed_folder), run.id],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {
        "ids": sorted(each.id for each in mixed()),
        "accuracy": run.summary()["accuracy"],
        "relevant": list(run.config.task.positions),
        "test_loss": run.curves["test_loss"].tolist(),
        "train_loss": run.curves["train_loss"].tolist(),
        "lr": run.config.training.lr,
        "query": [run.parameters(int(at)).query.tolist() for at in run.weight_epochs],
        "epochs": run.weight_epochs.tolist(),
    }
