"""Takes over from Ory Hydra 2: its clients, from the admin API, the command line or the rows of hydra_client."""
