"""Messages to clients and operators that are kept in the store until they have arrived."""
