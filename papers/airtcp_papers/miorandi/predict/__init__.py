"""What `airtcp predict` says by paper M, and what its models of other papers share with it."""
