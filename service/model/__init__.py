"""What the service talks about, as frozen dataclasses without behaviour of their own."""
