"""The console: pages for operators, at `admin.url`."""
