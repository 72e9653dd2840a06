"""What all tests share: properties are not timed, for a busy machine proves nothing wrong.

Nor has BLAS a thread for each processor: the tests themselves have them all, and threads that wait
for each other made 400 equations take a hundred times as long as one does.
"""

import os

from hypothesis import settings

# Before anything imports NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
