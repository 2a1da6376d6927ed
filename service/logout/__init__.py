"""How a session ends, and how the clients that took part in it learn so."""
