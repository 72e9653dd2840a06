"""Paper M: Miorandi, Kherani and Altman 2006, downloads and web traffic through one AP."""
