"""Predictions by paper B: downloads as a cycle, bursts of the access point, and m*."""
