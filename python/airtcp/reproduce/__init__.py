"""The figures, tables and stated numbers of five papers, made again.

- `item`: what an item is, and the decorator that makes a function one
- `catalogue`: all items, by name; the papers that they come from
- `bench`: what an item works with: scenarios, simulations that are remembered, a shorter run
- `measure`: intervals of what simulations say, and of ratios and differences of them
- `chart`: one style for all figures, and the data behind each
- `make`: makes items, writes them, and does not make twice what is there
- `claims`: what the papers state (claims.toml), and whether it is met
- `sliders`: figures whose parameters can be moved, for a page
- `pages`: a page per paper, and one above them
- `miorandi`, `leith`, ...: a folder per paper, its scenario files beside its functions

Imports models and simulator; nothing but the command line and the page imports it.
"""
