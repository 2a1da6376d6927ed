"""Takes over from another server: reads its export, and writes the configuration of this service (`token-service import`)."""
