"""Who may ask for tokens: finding clients, their keys, and the way to their URLs."""
