"""The words and rules of the RFCs, pure: no I/O, no clock."""
