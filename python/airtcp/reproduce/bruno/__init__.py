"""Reproduce paper B: Bruno, Conti and Gregori 2004, hot-spot downloads with AP bursts."""

from airtcp.reproduce.bruno import bursts as bursts
from airtcp.reproduce.bruno import cells as cells
from airtcp.reproduce.bruno import mixed as mixed
from airtcp.reproduce.bruno import slots as slots
from airtcp.reproduce.bruno import supply as supply
from airtcp.reproduce.bruno import text as text
