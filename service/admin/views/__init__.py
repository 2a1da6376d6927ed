"""Shows operators the values of the store and of the registry as structs, without a secret, a hash or a bearer value; no HTTP and no HTML."""
