"""A mark for the tests of airtcp that want a verb or view of airtcp-papers, too."""

import pytest
from airtcp.extensions import verbs

with_papers = pytest.mark.skipif(not verbs(), reason="airtcp-papers is not installed")
