"""Reproduce paper H: Hoekstra, van der Mei and Diaz-Feraren 2013, processor sharing."""

from airtcp.reproduce.hoekstra import concurrent as concurrent
from airtcp.reproduce.hoekstra import lengths as lengths
from airtcp.reproduce.hoekstra import real as real
from airtcp.reproduce.hoekstra import sizes as sizes
from airtcp.reproduce.hoekstra import standards as standards
from airtcp.reproduce.hoekstra import tables as tables
from airtcp.reproduce.hoekstra import tails as tails
from airtcp.reproduce.hoekstra import terms as terms
from airtcp.reproduce.hoekstra import times as times
