"""Intents from names, a few examples and unlabelled messages."""
