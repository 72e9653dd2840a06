"""Paper B: Bruno, Conti and Gregori 2004, hot-spot downloads with AP bursts."""
