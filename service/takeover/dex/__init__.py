"""Takes over from dex: its config.yaml (https://dexidp.io/docs/configuration/)."""
