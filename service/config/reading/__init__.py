"""Reads config.yaml: YAML with the position of each value, included files, references to variables and files."""
