"""The version, equal to the version in Cargo.toml (a test compares them).

Written down once more because the package's metadata takes longer to read than a scenario.
"""

from typing import Final

__version__: Final = "0.1.0"
