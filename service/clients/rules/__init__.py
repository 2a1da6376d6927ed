"""The rules on clients, those that register dynamically included."""
