"""The nouns that all rooms share: frozen records, with only such methods as their own members answer."""
