"""Paper H: Hoekstra, van der Mei and Diaz-Feraren 2013, processor sharing."""
