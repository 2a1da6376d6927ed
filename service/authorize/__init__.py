"""How an authorization request is checked, walked through its pages and answered."""
