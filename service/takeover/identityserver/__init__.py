"""Takes over from IdentityServer 3 and 4 and from Duende IdentityServer: configuration, rows of the database, and users of ASP.NET Identity."""
