"""The steps that `prepare` is made of."""
