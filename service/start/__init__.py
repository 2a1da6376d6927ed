"""What config.yaml is judged by, and what this version supports."""
