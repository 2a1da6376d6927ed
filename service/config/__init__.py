"""How config.yaml becomes checked settings, with every problem at once."""
