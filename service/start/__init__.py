"""The rules by which config.yaml is judged, and the features that this version supports."""
