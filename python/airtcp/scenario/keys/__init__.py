"""The keys of a scenario: each is declared once, in the table that it belongs to.

A table here is the resolved form; `declare` makes the written form from it. Each module has a part
of a scenario file.
"""
