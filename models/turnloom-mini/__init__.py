"""A dialogue encoder; this folder is the model."""
