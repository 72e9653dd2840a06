"""The keys of a scenario, each declared once in its table.

A table here is the resolved form. `declare` makes the written form from it. Each module has one
part of a scenario file.
"""
