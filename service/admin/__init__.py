"""The admin API and the console: what operators look at, and what they end (docs/operations/admin.md)."""
