"""A pytest mark for tests that need a verb or view of airtcp-papers."""

import pytest
from airtcp.extensions import verbs

with_papers = pytest.mark.skipif(not verbs(), reason="airtcp-papers is not installed")
