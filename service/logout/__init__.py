"""Ends sessions, and tells the clients that took part in them."""
