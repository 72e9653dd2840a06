"""Predictions by paper L: uploads with prioritized TCP ACKs, a wired bottleneck, and CWmin."""
