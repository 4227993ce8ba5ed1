"""The shop, in a folder of its own for each test."""

from pathlib import Path

import pytest
from shop import fill


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path)
