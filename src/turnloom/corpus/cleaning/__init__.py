"""The steps of `prepare`."""
