"""Values kept in this process for a while, and work done once for all who need it at the same time."""
