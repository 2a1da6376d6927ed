"""The keys of config.yaml: their defaults, constraints and documentation, each in this one place."""
