"""The English of answers, one file for each: numbers and identifiers in, parts of a document out.

words      names of metrics, groups, causes and changes, and how values are written
run        the screen of `airtcp run`
"""
