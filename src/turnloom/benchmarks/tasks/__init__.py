"""Benchmark tasks, one file a kind."""
