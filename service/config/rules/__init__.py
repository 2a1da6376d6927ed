"""The rules of config.yaml; `table.py` lists them all."""
