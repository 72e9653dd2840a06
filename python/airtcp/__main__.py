"""`python -m airtcp` is the command `airtcp`."""

from airtcp.cli import main

if __name__ == "__main__":
    main()
