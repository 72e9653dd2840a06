"""Words of results: functions that turn numbers and identifiers into parts of a document.

`words` has the names of metrics, groups, causes and changes, and the format of values. `run`,
`plan` and `diff` build the screens of these commands, and `access_point` describes access points.
"""
