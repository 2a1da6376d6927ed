"""Rules across fields of config.yaml, each one small function, listed by what they look at."""
