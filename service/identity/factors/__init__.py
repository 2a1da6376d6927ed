"""The second factors of people: where they are kept, how each is verified, and who needs one."""
