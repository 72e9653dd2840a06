"""Compare several cells with the real ns-3, and with an independent slot simulator."""
