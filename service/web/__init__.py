"""Where HTTP ends: requests in, answers out, cookies, pages, and the guarded client."""
