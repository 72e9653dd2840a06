"""Print every stored row of the real ns-2 and ns-3 next to airtcp at the same point.

Exit status 1 if a difference is not explained in docs/explanation/accuracy.md.

    .venv/bin/python validation/compare.py
"""

from __future__ import annotations

from peers import table


def main() -> None:
    """Print the tables."""
    for peer in table.PEERS:
        found = list(table.lines([peer]))
        print(f"\n{peer}: {len(found)} rows, {sum(line.agrees for line in found)} agree\n")
        print(table.markdown(found))
    print(f"\nspeed\n\n{table.speed_markdown()}")


if __name__ == "__main__":
    main()
