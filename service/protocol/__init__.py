"""The words and rules of the RFCs, pure: standard library only, no I/O, no clock."""
