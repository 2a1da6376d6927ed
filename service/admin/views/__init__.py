"""What operators see: values of the store and the registry as structs, without a secret, a hash or a bearer value; no HTTP and no HTML."""
