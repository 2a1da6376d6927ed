"""The records, keys and lifetimes of everything that is stored in Redis or in its embedded stand-in."""
