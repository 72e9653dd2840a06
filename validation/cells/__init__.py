"""Several cells against the real ns-3, and against a plain second witness."""
