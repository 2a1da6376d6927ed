"""The pages at which users give, add and manage second factors."""
