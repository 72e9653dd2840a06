"""Predictions by paper M, and functions that models of other papers share with it."""
