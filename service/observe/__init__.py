"""How events become audit records, metrics and logs."""
