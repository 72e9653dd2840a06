"""Paper B: Bruno, Conti and Gregori 2004, hot-spot downloads with AP bursts."""

#: The modules with items.
ITEMS = ("bursts", "cells", "mixed", "slots", "supply", "text")
