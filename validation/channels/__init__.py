"""Compare channel plans with brute force."""
