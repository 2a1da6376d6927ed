"""What each URL does, one file per URL."""
