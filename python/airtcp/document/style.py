"""The style sheet of reports: plain CSS, light and dark, for screen and print."""

from typing import Final

STYLE: Final = """\
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f5f7f9; --ink: #20242a; --muted: #5f6773; --grid: #dfe3e8;
  --blue: #0072b2; --sky: #56b4e9; --green: #009e73; --orange: #e69f00; --vermilion: #d55e00;
  --purple: #cc79a7; --grey: #b5bac2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --panel: #1d2126; --ink: #e6e9ee; --muted: #9aa4b1; --grid: #323842;
    --blue: #4ba3d9; --sky: #2f6f96; --green: #2dbb93; --orange: #e6ab2e; --vermilion: #f08445;
    --purple: #d992b9; --grey: #4b525d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
p, ul { margin: .5rem 0; }
ul { padding-left: 1.2rem; }
li { margin: .25rem 0; }
.subject { list-style: none; padding: 0; }
.muted { color: var(--muted); }
.note, .warning {
  background: var(--panel); border-left: 4px solid var(--blue); padding: .6rem .9rem;
  border-radius: 0 .4rem .4rem 0;
}
.warning { border-color: var(--vermilion); font-weight: 600; }
.answer { list-style: none; font-size: 1.05rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
.state { font-size: 1.15rem; font-weight: 600; }
.state.holds { border-color: var(--green); }
.state.fails { border-color: var(--vermilion); }
.state.unknown { border-color: var(--orange); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1.25rem 0 0; }
a { color: var(--blue); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th {
  text-align: left; font-weight: 600; color: var(--muted); padding: .35rem .8rem .35rem 0;
  border-bottom: 2px solid var(--grid);
}
td { padding: .38rem .8rem .38rem 0; border-top: 1px solid var(--grid); vertical-align: top; }
tbody tr:first-child td, tr.again td { border-top: 0; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.nowrap { white-space: nowrap; }
.verdict { white-space: nowrap; font-weight: 600; }
.agrees { color: var(--green); }
.close { color: var(--blue); }
.too-high, .too-low, .far-too-high, .far-too-low { color: var(--vermilion); }
.met { color: var(--green); }
.met-in-a-reading { color: var(--blue); }
.at-the-bound { color: var(--orange); }
.untestable { color: var(--muted); }
.not-met { color: var(--vermilion); }
.undecided, .not-simulated, .not-made { color: var(--muted); }
figure { margin: 2.25rem 0 0; }
figure svg { display: block; width: 100%; height: auto; }
.column svg { max-width: 38rem; }
figcaption { color: var(--muted); font-size: .9rem; margin-top: .35rem; }
dl { margin: .5rem 0; font-size: .93rem; }
dl div {
  display: grid; grid-template-columns: 9rem 1fr; gap: .8rem; padding: .38rem 0;
  border-top: 1px solid var(--grid);
}
dl div:first-child { border-top: 0; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
details { margin: .75rem 0; }
summary { cursor: pointer; color: var(--muted); }
pre {
  background: var(--panel); border-radius: .4rem; padding: .9rem 1rem; overflow: auto;
  max-height: 34rem; font: .82rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
}
@media (min-width: 40.01rem) and (max-width: 60rem) {
  /* A table has all of its columns on the page. */
  table { font-size: .8rem; }
  th, td { padding-right: .5rem; }
}
@media (max-width: 40rem) {
  main { padding: 1.25rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  /* A row becomes a block, a cell a line with the name of its column: nothing is cut off. */
  .scroll { overflow-x: visible; }
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { border-top: 1px solid var(--grid); padding: .4rem 0; }
  td { border: 0; padding: .1rem 0; display: flex; justify-content: space-between; gap: 1rem; }
  td, .number, .nowrap, .verdict { white-space: normal; overflow-wrap: anywhere; }
  td[data-head]::before {
    content: attr(data-head); color: var(--muted); font-weight: 400; flex: none; max-width: 45%;
  }
  td:first-child { font-weight: 600; }
  td:empty { display: none; }
  dl div { grid-template-columns: 1fr; gap: 0; }
}
@media screen and (max-width: 40rem) {
  /* A picture keeps letters that can be read, and is moved sideways under its caption. */
  figure { overflow-x: auto; }
  figure svg { width: 36rem; max-width: none; }
  figcaption { position: sticky; left: 0; }
}
@media print {
  /* On white whatever the screen likes; tables break lines before they are cut. */
  :root {
    --paper: #ffffff; --panel: #f5f7f9; --ink: #20242a; --muted: #5f6773; --grid: #dfe3e8;
  }
  html, body { font-size: 12px; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .scroll { overflow: visible; }
  table { font-size: .85rem; }
  .number, .nowrap, .verdict { white-space: normal; }
  .number { min-width: 7em; }
  h1, h2, h3, .state, summary { break-after: avoid; }
  pre { max-height: none; white-space: pre-wrap; }
  figure { margin-top: 1.25rem; }
  figure, tr, li { break-inside: avoid; }
  figure svg { max-width: 42rem; }
}
"""
