"""HTTP: requests, answers and errors, pages, and the server that carries them."""
