"""The kernel in WebAssembly, built once."""

import pytest
from wasm_node import Node


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    return Node(tmp_path_factory.mktemp("wasm"))
