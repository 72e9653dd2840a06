"""The version, which is that of Cargo.toml: a test holds them equal.

Written down once more because the package's metadata takes longer to read than a scenario.
"""

from typing import Final

__version__: Final = "0.1.0"
