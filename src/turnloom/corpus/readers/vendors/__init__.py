"""Exports of support desks, messengers and call centres: one file per vendor."""
