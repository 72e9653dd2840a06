"""The English of answers: functions that turn numbers and identifiers into parts of a document.

words      names of metrics, groups, causes and changes, and the format of values run        the
screen of `airtcp run`
"""
