"""All English that users read: sentences in ROOM.toml, and functions that arrange results.

A room names its sentences by `airtcp.phrases.phrase`, with quantities.

`words` has the names of metrics, groups, causes and changes, and the format of values. `run`,
`plan` and `diff` build the screens of these commands, and `access_point` describes access points.
"""
