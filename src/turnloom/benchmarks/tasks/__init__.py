"""Benchmark tasks, one file per type."""
