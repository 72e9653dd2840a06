"""Paper G: Gopal, Paul and Raychaudhuri 2004, uploads with omitted TCP ACKs."""
