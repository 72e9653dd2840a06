"""Reproduce the figures, tables and stated numbers of five papers.

- `item`: define items, with the decorator that turns a function into one
- `catalogue`: list all items by name, and the papers that they belong to
- `bench`: provide items with scenarios, cached simulations and quick runs
- `measure`: compute intervals of simulation results, of their ratios and differences
- `chart`: draw all figures in one style, with the data behind each
- `make`: make items, write them, and skip those that are up to date
- `claims`: list the statements of the papers (claims.toml) and judge them
- `sliders`: define figures with adjustable parameters, for a page
- `pages`: write a page per paper, and an overview
- `miorandi`, `leith`, ...: one folder per paper, with scenario files next to the functions

The package imports models and simulator; only the command line and the page import it.
"""
