"""Define and make the items of the papers, judge claims, and show both.

- `item`: define items, with the decorator that turns a function into one
- `catalogue`: list all items by name, and the papers that they belong to
- `bench`: provide items with scenarios, cached simulations and quick runs
- `runs`: keep the simulated points in a table
- `store`: keep finished work on disk, by what it depends on
- `measure`: compute intervals of simulation results, of their ratios and differences
- `chart`, `diagram`: draw all figures in one style, with the data behind each
- `make`: make items, write them, and skip those that are up to date
- `claims`: list the statements of the papers (claims.toml of each room) and judge them
- `scoreboard`: keep the numbers and verdicts of all claims
- `sliders`: define figures with adjustable parameters, for the page
- `pages`: write a page per paper, and an overview
- `flows`, `servers`: simulate transfers as jobs that share a capacity
- `sharing`: model transfers as processor sharing, in one network or split among several
- `command`, `page`, `view`, `extension`: the command, the view of the page, their entry points
"""
