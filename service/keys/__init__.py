"""The keys that sign and verify, and their way from announced to gone."""
