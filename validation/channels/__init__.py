"""Plans of channels beside brute force."""
